/** Long lists of examples, written once. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { formatDiagnosticLine, type Diagnostic } from "../../../src/base/files/diagnostic.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { expandRepeats, readExamples } from "../../../src/authoring/examples/example.ts";

describe("repeated items in examples", () => {
  test.each<[string, unknown, unknown]>([
    ["is numbered from 1", { repeat: 3, of: { id: "{n}" } }, [{ id: 1 }, { id: 2 }, { id: 3 }]],
    ["from another number", { repeat: 2, of: "{5200+n}" }, [5201, 5202]],
    ["with the number in a text", { repeat: 2, of: "vm-{n} of {10+n}" }, ["vm-1 of 11", "vm-2 of 12"]],
    ["in turns", { repeat: 3, of: { cycle: ["a", "b-{n}"] } }, ["a", "b-2", "a"]],
    [
      "of lists",
      { repeat: 2, of: ["{n}", null] },
      [
        [1, null],
        [2, null],
      ],
    ],
    ["no time", { repeat: 0, of: "{n}" }, []],
  ])("%s", (_, item, items) => {
    expect(expandRepeats([item])).toEqual(items);
    expect(expandRepeats({ data: ["before", item, "after"] })).toEqual({
      data: ["before", ...(items as unknown[]), "after"],
    });
  });

  test.each<[string, unknown]>([
    ["an object with more members", [{ repeat: 2, of: "x", label: "daily" }]],
    ["a word for a number", [{ repeat: "daily", of: "x" }]],
    ["without what is repeated", [{ repeat: 2 }]],
    ["outside of a list", { repeat: 2, of: "x" }],
    ["a number in braces that is not repeated", ["{n}", { id: "{5+n}" }]],
    ["a cycle beside others", [{ cycle: ["a"], other: 1 }]],
    ["plain values", [null, true, 0, "", []]],
  ])("keeps %s", (_, value) => expect(expandRepeats(value)).toEqual(value));

  test.each<[string, string, number | undefined]>([
    ["that is far too long", "{ repeat: 100000000, of: x }", 4],
    ["without an end", "{ repeat: .inf, of: x }", 4],
    ["of many values", "{ repeat: 10000, of: { a: [1, 2, 3, 4, 5], b: { c: 1, d: 2, e: 3 } } }", 4],
    ["that is too long with others", "{ repeat: 99999, of: x }\n  - { repeat: 2, of: x }", 5],
    ["as long as it may be", "{ repeat: 99999, of: x }\n  - { repeat: 1, of: x }", undefined],
  ])("a list %s is a problem of its file", (_, item, line) => {
    const folder = temporaryFolder();
    const file = join(folder, "examples", "list.yaml");
    mkdirSync(join(folder, "examples"));
    writeFileSync(file, `title: A list\nrequest: POST /x\nbody:\n  - ${item}\nresponse: { status: 200 }\n`);
    const diagnostics: Diagnostic[] = [];
    const { examples } = readExamples(folder, diagnostics);
    expect(diagnostics.map(formatDiagnosticLine)).toEqual(
      line === undefined
        ? []
        : [`${file}:${line}:5: the repeated items of a file have at most 100000 values`],
    );
    expect(examples).toHaveLength(line === undefined ? 1 : 0);
  });
});
