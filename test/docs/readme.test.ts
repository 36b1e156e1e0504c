import { describe, expect, test } from "vitest";
import { existsSync, readFileSync } from "node:fs";
import { summarise } from "../../src/mapping/summary.ts";
import { loadPack } from "../../src/mapping/load/load-pack.ts";
import { SETTINGS } from "../../src/config/schema.ts";

const readme = readFileSync("README.md", "utf8");

describe("the README", () => {
  test.each(Object.entries(SETTINGS))(
    "names the setting %s with its default",
    (name, { default: fallback }) => {
      const row = readme.split("\n").find((line) => line.startsWith("| `") && line.includes(`\`${name}\``));
      expect(row).toBeDefined();
      const cells = row?.split(" | ") ?? [];
      const index = (cells[0] ?? "").replace("| ", "").split(", ").indexOf(`\`${name}\``);
      const defaults = (cells[1] ?? "").split(/, (?=`|unset)/);
      const written = (defaults[index] ?? defaults[0] ?? "").replaceAll("`", "");
      expect(written).toBe(name === "MAPPINGS_DIR" ? "./mappings" : (fallback ?? "unset"));
    },
  );

  test("gives the figures that `check` prints", () => {
    const { routes, objects, classes } = summarise(loadPack("mappings"));
    const fields = objects.flatMap((object) => object.fields).length;
    expect(readme).toContain(`${routes.length} routes, ${objects.length} objects, ${fields} fields`);
    const counts = Object.entries(classes).map(([name, count]) => `${name} ${count}`);
    expect(readme).toContain(`fields by class: ${counts.join(", ")}`);
  });

  test("links to files that are there", () => {
    const links = [...readme.matchAll(/\]\((?!http)([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("its layout names the folders of src", () => {
    const layout = /## How the code is laid out\n\n```\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
    for (const folder of [
      "app",
      "pipeline",
      "mapping",
      "jsonata",
      "dialect",
      "upstream",
      "sandbox",
      "tools",
    ]) {
      expect(layout).toContain(`src/${folder}/`);
    }
  });
});
