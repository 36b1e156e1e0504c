/** Two bodies as lines beside each other. */
import { describe, expect, test } from "@jest/globals";
import { alignBodies } from "../../../src/compare/recorded/describe-example.ts";

const lines = (old: unknown, other: unknown): string[] =>
  alignBodies(old, other, ["id", "name"]).map(
    (line) => `${line.isDifferent ? "! " : ""}${line.path}: ${line.old} ${line.new}`,
  );

describe("bodies beside each other", () => {
  test("have their rows aligned by id, whatever their order", () => {
    const [one, two] = [
      { id: 1, a: "x" },
      { id: 2, a: "y" },
    ];
    expect(lines({ rows: [one, two] }, { rows: [two, { ...one, a: null }] })).toEqual([
      "rows[id=1].id: 1 1",
      '! rows[id=1].a: "x" null',
      "rows[id=2].id: 2 2",
      'rows[id=2].a: "y" "y"',
    ]);
  });

  test("have rows of another name, or of no name, aligned by that, or by their place", () => {
    expect(lines([{ name: "a" }], [{ name: "b" }])).toEqual([
      '! [name=a].name: "a" null',
      '! [name=b].name: null "b"',
    ]);
    expect(lines([{ id: 1 }, { id: 1 }], [{ id: 1 }])).toEqual(["[0].id: 1 1", "! [1].id: 1 null"]);
    expect(lines([1, "x"], [1])).toEqual(["[0]: 1 1", '! [1]: "x" null']);
    expect(lines({ a: { b: 1 }, c: 2 }, { a: [], c: { d: [3] } })).toEqual([
      '! a: {"b":1} []',
      '! c: 2 {"d":[3]}',
    ]);
    expect(lines({ a: [], b: {} }, { a: [], b: {} })).toEqual(["a: [] []", "b: {} {}"]);
  });

  test("may be missing, empty, text, or cut", () => {
    expect(lines(undefined, {})).toEqual(["! : null {}"]);
    expect(lines("text", "text")).toEqual([': "text" "text"']);
    expect(lines({ truncated: true, bytes: 9, text: "[1" }, [])).toEqual(['! : "[1" []']);
  });

  test("have a bounded number of lines", () => {
    const body = Array.from({ length: 5000 }, (_, n) => n);
    expect(alignBodies(body, body, [])).toHaveLength(2000);
  });
});
