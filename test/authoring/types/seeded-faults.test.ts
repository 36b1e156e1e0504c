/** `check --laws` with documents: each of 50 mistakes in the shipped pack has a counterexample, and the pack itself has one, of its document. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { readExamples } from "../../../src/authoring/examples/example.ts";
import { compareExamples } from "../../../src/authoring/examples/run-examples.ts";
import { checkDocuments } from "../../../src/authoring/types/check-documents.ts";
import type { TypeReport } from "../../../src/authoring/types/type-report.ts";
import { withPack, type Edit } from "../../pack/load/pack-folder.ts";
import { withDocuments } from "./documents.ts";
import { packIn } from "../../support/packs.ts";

interface Fault {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly field: string;
}

const { words, faults } = parse(readFileSync(join(import.meta.dirname, "faults.yaml"), "utf8")) as {
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly faults: readonly Fault[];
};

/** Holds the shipped pack with changes in it against the descriptions of the unchanged one. */
const checkChanged = (edits: readonly Edit[]): Promise<TypeReport> =>
  withDocuments(packIn("mappings"), words, (files) =>
    withPack(
      edits,
      async (folder) => {
        const pack = loadPack(folder);
        const { examples, catalogs } = readExamples(folder, []);
        const results = await compareExamples(pack, examples, catalogs);
        return checkDocuments(folder, { pack, results }, files, { seed: 1, runs: 10 });
      },
      "mappings",
    ),
  );

const brokenFields = ({ fields }: TypeReport): string[] =>
  fields.flatMap(({ field, counterexample }) => (counterexample ? [field] : []));

describe("the types of the shipped pack", () => {
  test("have no counterexample", async () => {
    const report = await checkChanged([]);
    expect(brokenFields(report)).toEqual([]);
    expect(report.untested).toEqual([]);
    expect(report.fields.length).toBeGreaterThan(700);
  });

  test("are 50 mistakes, each in a field of its own", () => {
    expect(new Set(faults.map(({ field }) => field)).size).toBe(50);
  });

  test("have a counterexample for each of 50 mistakes", async () => {
    const report = await checkChanged(
      faults.map(({ file, find, replace }) => ({ file, from: find, to: replace })),
    );
    const broken = new Set(brokenFields(report));
    const missed = faults.filter(
      ({ field }) =>
        ![...broken].some((each) => each === field || (field !== "record" && each.startsWith(`${field}.`))),
    );
    expect(missed.map(({ name }) => name)).toEqual([]);
  });
});
