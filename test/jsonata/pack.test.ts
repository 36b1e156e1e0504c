import { expect, test } from "@jest/globals";
import { collectExpressions } from "../../src/jsonata/index.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";

const PACKS = [
  "mappings",
  "examples/json-api/pack",
  "examples/media-type-versions/pack",
  "examples/payments/pack",
];

test.each(PACKS)("every expression of the pack %s is compiled", (folder) => {
  const { expressions } = collectExpressions(() => loadPack(folder));
  const interpreted = expressions.filter(({ engine }) => engine === "interpreted");
  expect(interpreted.map(({ source, fallback }) => [source, fallback])).toEqual([]);
  expect(expressions).not.toEqual([]);
});
