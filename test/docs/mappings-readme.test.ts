/** The guide "Write a mapping": its example loads, its golden cases pass and its diagnostic is right. The reference has every key. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readExamples } from "../../src/authoring/examples/example.ts";
import { runExamples } from "../support/run-examples.ts";
import { formatDiagnostic, PackError } from "../../src/base/files/diagnostic.ts";
import { fileSchema } from "../../src/pack/schema/file-schema.ts";
import { keysAt } from "../../src/base/files/schema-keys.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";

const page = readFileSync("mappings/README.md", "utf8");
const packFormat = readFileSync("docs/reference/pack-format.md", "utf8");
/** The files that the guide shows: a code block whose first line is a comment with the file name. */
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

describe("mappings/README.md", () => {
  test("the example loads, and its golden cases pass", async () => {
    const pack = loadPack(folder);
    const diagnostics = [...pack.gaps().unmappedFields];
    const { examples, catalogs } = readExamples(folder, diagnostics);
    const documented = examples.filter(({ source }) => files.some(([name]) => source.file.endsWith(name)));
    diagnostics.push(...(await runExamples(pack, documented, catalogs)));
    expect(diagnostics.map(formatDiagnostic)).toEqual([]);
    const routes = pack.routes.filter(({ object }) => object === "volume").map(({ name }) => name);
    const covered = documented.map(({ definition }) => definition.request.replace(/\d+/, ":id"));
    expect(new Set(covered)).toEqual(new Set(routes));
    expect(pack.route("POST /volumes")).toBeDefined();
  });

  test("the loader reports the diagnostic that the page shows", () => {
    const [, text = "", name = ""] = /```\n((\S+\.yaml):\d+:\d+: [\s\S]*?)```/.exec(page) ?? [];
    const written = files.find(([file]) => file === name)?.[1] ?? "";
    write(name, written.replace("catalog: datacenter,", "catalog: datacentre,"));
    let message = "";
    try {
      loadPack(folder);
    } catch (error) {
      message = error instanceof PackError ? error.message.replaceAll(`${folder}/`, "") : "";
    } finally {
      write(name, written);
    }
    expect(`${message}\n`).toContain(text);
    expect(name).toBe("volume.yaml");
  });

  test("README.md links to the page", () =>
    expect(readFileSync("README.md", "utf8")).toContain("](mappings/README.md)"));
});

describe("docs/reference/pack-format.md", () => {
  test.each([
    ["a file", "resource", []],
    ["a field", "resource", ["fields", "name"]],
    ["a body", "resource", ["bodies", "name"]],
    ["a route", "resource", ["routes", 0]],
    ["a catalog", "resource", ["catalog"]],
    ["a value kind", "pack", ["values", "name"]],
    ["a call", "pack", ["calls", "name"]],
    ["the client", "pack", ["client"]],
    ["the upstream", "pack", ["upstream"]],
    ["pack.yaml", "pack", []],
  ] as const)("names every key of %s", (_title, kind, path) => {
    const keys = keysAt(fileSchema(kind), path);
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.filter((key) => !packFormat.includes(`\`${key}\``))).toEqual([]);
  });
});

describe("the table of docs/guide/what-a-pack-can-say.md", () => {
  const differences = readFileSync("docs/guide/what-a-pack-can-say.md", "utf8");
  const [, table = ""] = /\| Difference \|[^\n]*\n\|[-|]*\n((?:\|[^\n]*\n)*)/.exec(differences) ?? [];
  const rows = table.trim().split("\n");

  const casesOf = (row: string): string[] =>
    [...(row.split("|")[3] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

  test("has a golden case for each difference", () => {
    expect(rows.length).toBeGreaterThanOrEqual(14);
    expect(rows.filter((row) => casesOf(row).length === 0)).toEqual([]);
  });

  const fileOf = (name: string): string => {
    const [folder = "", ...rest] = name.split(/: |\//);
    const folders = [folder, `examples/${folder}/pack`];
    const pack = folders.find((each) => existsSync(join(each, "pack.yaml"))) ?? "";
    return join(pack, "examples", `${rest.join("/")}.yaml`);
  };

  test("names golden cases that exist", () => {
    expect(rows.flatMap(casesOf).filter((name) => !existsSync(fileOf(name)))).toEqual([]);
  });
});
