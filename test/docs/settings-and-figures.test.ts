import { describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { summarizePack } from "../../src/pack/pack-summary.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { SETTING_SECTIONS, SETTINGS } from "../../src/base/settings/setting-definitions.ts";

const settingsPage = readFileSync("docs/reference/settings.md", "utf8");

describe("docs/reference/settings.md", () => {
  test.each(Object.entries(SETTING_SECTIONS))("has the table of the schema under %s", (section, names) => {
    const [, text = ""] = settingsPage.split(`## ${section}\n`);
    const [before = ""] = text.split("\n## ");
    const rows = names.map((name) => {
      const { default: value, meaning } = SETTINGS[name];
      return `| \`${name}\` | ${value === undefined ? "unset" : `\`${value}\``} | ${meaning} |`;
    });
    expect(before.split("\n").filter((line) => line.startsWith("|"))).toEqual([
      "| Name | Default | Meaning |",
      "|---|---|---|",
      ...rows,
    ]);
  });

  test("has no table of anything else", () => {
    const rows = settingsPage.split("\n").filter((line) => line.startsWith("| `"));
    expect(rows).toHaveLength(Object.keys(SETTINGS).length);
  });
});

/** A resource that is added changes the figures: the page shows their form. */
const withoutFigures = (text: string): string => text.replaceAll(/\d+/g, "N");

test("docs/reference/pack-format.md shows the lines that `check` prints", () => {
  const page = withoutFigures(readFileSync("docs/reference/pack-format.md", "utf8"));
  const { routes, objects, classes } = summarizePack(loadPack("mappings"));
  const fields = objects.flatMap((object) => object.fields).length;
  expect(page).toContain(
    withoutFigures(`${routes.length} routes, ${objects.length} objects, ${fields} fields`),
  );
  const counts = Object.entries(classes).map(([name, count]) => `${name} ${count}`);
  expect(page).toContain(withoutFigures(`fields by class: ${counts.join(", ")}`));
});

test("docs/internals/architecture.md names each folder of src/", () => {
  const page = readFileSync("docs/internals/architecture.md", "utf8");
  const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(
    folders.map(({ name }) => `src/${name}/`).filter((folder) => !page.includes(`\`${folder}\``)),
  ).toEqual([]);
});

test("README.md has at most 130 lines", () => {
  expect(readFileSync("README.md", "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(130);
});
