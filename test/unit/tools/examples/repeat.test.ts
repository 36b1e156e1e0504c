/** Long lists of examples, written once. */
import { describe, expect, test } from "@jest/globals";
import { expandRepeats } from "../../../../src/tools/examples/example.ts";

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
});
