import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { summarizePack } from "../../src/pack/load/pack-summary.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";

/** A resource that is added changes the figures: the page shows their form. */
const withoutFigures = (text: string): string => text.replaceAll(/\d+/g, "N");

test("docs/guide/pack-files.md shows the lines that `check` prints", () => {
  const page = withoutFigures(readFileSync("docs/guide/pack-files.md", "utf8"));
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
