/** Files that would take long to report: problems are bounded, and are found without a search per problem. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { formatDiagnosticLine, PackError, type Diagnostic } from "../../../src/base/files/diagnostic.ts";
import { buildFiles } from "../../../src/pack/load/checked-pack.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { locateNodes } from "../../../src/base/files/yaml-nodes.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { isMap, parseDocument } from "yaml";

const DIALECT = { file: "pack.yaml", text: "format: 2\nclient: {}\nupstream: {}\n" };
const COUNT = 20_000;
const repeat = (line: (index: number) => string, count = COUNT): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("");

function diagnosticsOf(text: string): readonly Diagnostic[] {
  try {
    buildFiles({ directory: "pack", files: [{ file: "book.yaml", text }, DIALECT] });
    return [];
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return error.diagnostics;
  }
}

describe("a file with 20 000 problems is reported with 50 at most, the first ones first", () => {
  test.each([
    ["unknown keys", repeat((index) => `key${index}: 1\n`), 'book.yaml:1:1: the key "object" is missing'],
    [
      "unknown keys that are nearly right",
      `object: book\nfields:\n  id: { ${repeat((index) => `upstrea${index}: 1, `, 5)} }\n${repeat((index) => `field${index}: {}\n`)}`,
      'book.yaml:3:9: unknown key "upstrea0"',
    ],
    [
      "invalid routes",
      `object: book\nfields: { id: id }\nroutes:\n${repeat(() => "  - { client: 1, upstrem: 2 }\n")}`,
      "book.yaml:4:15: must be a string, but is a number",
    ],
    [
      "invalid fields",
      `object: book\nfields:\n${repeat((index) => `  field${index}: 7\n`)}`,
      "book.yaml:3:11: must be a map, but is a number",
    ],
    [
      "unknown references",
      `object: book\nfields:\n${repeat((index) => `  field${index}: { upstream: a, values: kind${index} }\n`)}`,
      'book.yaml:3:34: unknown value kind "kind0"',
    ],
    [
      "duplicate keys",
      `object: book\nfields:\n${repeat(() => "  id: id\n")}`,
      "book.yaml:4:3: Map keys must be unique",
    ],
    [
      "syntax errors",
      repeat(() => "a: @\n"),
      "book.yaml:1:4: Plain value cannot start with reserved character @",
    ],
    ["unknown aliases", `list:\n${repeat(() => "  - *other\n")}`, "book.yaml:2:5: there is no anchor &other"],
  ])("%s", (_name, text, first) => {
    const diagnostics = diagnosticsOf(text);
    expect(formatDiagnosticLine(diagnostics[0] as Diagnostic)).toMatch(first);
    expect(diagnostics.length).toBeLessThanOrEqual(50);
    expect(new PackError(diagnostics).message.length).toBeLessThan(50_000);
  });

  test("all in one line: each is printed with the text around it", () => {
    const text = `object: book\nfields: { ${repeat((index) => `f${index}: 7, `)} }\n`;
    const diagnostics = diagnosticsOf(text);
    expect(diagnostics).toHaveLength(50);
    expect(new PackError(diagnostics).message.length).toBeLessThan(50_000);
  });
});

describe("nodes of a document", () => {
  test("are located in one walk, however many paths are asked for", () => {
    const document = parseDocument(`fields:\n${repeat((index) => `  f${index}: [{ a: 1 }, b]\n`, 1000)}`);
    const fields = document.get("fields");
    if (!isMap(fields)) throw new Error("there is no map");
    let reads = 0;
    const items = new Proxy(fields.items, {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    fields.items = items;
    const nodes = locateNodes(document);
    for (let index = 0; index < 1000; index += 1) {
      expect(nodes.keyOf(["fields", `f${index}`])?.range?.[0]).toBeGreaterThan(0);
      expect(nodes.nearest(["fields", `f${index}`, 0, "a"])?.range?.[0]).toBeGreaterThan(0);
    }
    expect(reads).toBe(1000);
  });
});

describe("the files of a pack have a limit", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
    writeFileSync(join(folder, "pack.yaml"), DIALECT.text);
  });
  const load = (): readonly string[] => {
    try {
      loadPack(folder);
      return [];
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      return error.diagnostics.map(({ file, message }) => `${file.slice(folder.length)}: ${message}`);
    }
  };

  test("of 256 kB each", () => {
    writeFileSync(join(folder, "book.yaml"), "#".repeat(256 * 1024 + 1));
    expect(load()).toEqual(["/book.yaml: has 262145 bytes: a file has at most 262144"]);
  });

  test("of 200 characters in a name of secret values", () => {
    const name = "a|".repeat(2500);
    writeFileSync(
      join(folder, "pack.yaml"),
      `${DIALECT.text}\nsecrets: ["${name}", ${name.slice(0, 200)}]\n`,
    );
    expect(load()).toEqual(["/pack.yaml: must have at most 200 characters"]);
  });

  test("of 4 MB together", () => {
    for (let index = 10; index < 27; index += 1)
      writeFileSync(join(folder, `${index}.yaml`), "#".repeat(256 * 1024));
    expect(load()).toEqual(["/26.yaml: the files of this folder have more than 4194304 bytes"]);
  });
});
