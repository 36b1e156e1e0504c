import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "../..");

interface Group {
  readonly mutants: readonly { readonly file: string; readonly text: string }[];
}

test("each mutant changes a text that its file has once", () => {
  const groups = parse(readFileSync(resolve(root, "test/mutants/mutants.yaml"), "utf8")) as Group[];
  const mutants = groups.flatMap((group) => group.mutants);
  expect(mutants.length).toBeGreaterThan(50);
  const lost = mutants.filter(
    ({ file, text }) => readFileSync(resolve(root, file), "utf8").split(text).length !== 2,
  );
  expect(lost).toEqual([]);
});
