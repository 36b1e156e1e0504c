/** The page on writing a mapping: its example is a pack that loads and holds, its fault is told so, no key is missing. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readExamples } from "../../src/tools/examples/example.ts";
import { runExamples } from "../../src/tools/examples/run-examples.ts";
import { formatDiagnostic, PackError } from "../../src/mapping/load/diagnostic.ts";
import { fileSchema, keysAt } from "../../src/mapping/schema/file-schema.ts";
import { loadPack } from "../../src/mapping/load/load-pack.ts";

const page = readFileSync("mappings/README.md", "utf8");
/** The files that the page shows: a block whose first line is a comment with a name. */
const files = [...page.matchAll(/```yaml\n# (\S+\.yaml)\n([\s\S]*?)```/g)].map(
  ([, name = "", text = ""]) => [name, `# ${name}\n${text}`] as const,
);

let folder = "";
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pack-"));
  cpSync("mappings", folder, { recursive: true });
  for (const [name, text] of files) write(name, text);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the page on writing a mapping", () => {
  test("its example loads, and its golden cases hold", async () => {
    const pack = loadPack(folder);
    const faults = [...pack.gaps.unmappedFields];
    const { examples, catalogs } = readExamples(folder, faults);
    const shown = examples.filter(({ source }) => files.some(([name]) => source.file.endsWith(name)));
    faults.push(...(await runExamples(pack, shown, catalogs)));
    expect(faults.map(formatDiagnostic)).toEqual([]);
    expect(shown).toHaveLength(2);
    expect(pack.route("POST /volumes")).toBeDefined();
  });

  test("its fault is told as it says", () => {
    const [, text = "", name = ""] = /```\n((\S+\.yaml):\d+:\d+: [\s\S]*?)```/.exec(page) ?? [];
    const written = files.find(([file]) => file === name)?.[1] ?? "";
    write(name, written.replace("catalog: datacenter,", "catalog: datacentre,"));
    let told = "";
    try {
      loadPack(folder);
    } catch (error) {
      told = error instanceof PackError ? error.message.replaceAll(`${folder}/`, "") : "";
    } finally {
      write(name, written);
    }
    expect(`${told}\n`).toContain(text);
    expect(name).toBe("volume.yaml");
  });

  test.each([
    ["a file", "resource", []],
    ["a field", "resource", ["fields", "name"]],
    ["a body", "resource", ["bodies", "name"]],
    ["a route", "resource", ["routes", 0]],
    ["a catalog", "resource", ["catalog"]],
    ["a value kind", "pack", ["values", "name"]],
    ["a first read", "pack", ["first", "name"]],
    ["pack.yaml", "pack", []],
  ] as const)("names every key of %s", (_what, kind, path) => {
    const keys = keysAt(fileSchema(kind), path);
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
  });

  test("the README leads to it", () =>
    expect(readFileSync("README.md", "utf8")).toContain("](mappings/README.md)"));
});
