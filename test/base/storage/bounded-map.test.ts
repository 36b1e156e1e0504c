import { expect, test } from "@jest/globals";
import { BoundedMap } from "../../../src/base/storage/bounded-map.ts";

test("a bounded map is emptied when it is full, and not by a key that it has", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("b", 3);
  expect([...map]).toEqual([
    ["a", 1],
    ["b", 3],
  ]);
  expect([...map.set("c", 4)]).toEqual([["c", 4]]);
});
