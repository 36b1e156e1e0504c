/** The types of fields find the mistakes of a pack: seeded faults of `mappings/`, and none in the pack as it is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { loadPack } from "../../../../src/mapping/load/load-pack.ts";
import { readExamples } from "../../../../src/tools/examples/example.ts";
import { readOpenapi } from "../../../../src/tools/impact/read-openapi.ts";
import { checkTypes } from "../../../../src/tools/laws/counterexamples/type-law.ts";
import type { TypeResult } from "../../../../src/tools/laws/counterexamples/type-report.ts";
import { describePack } from "../../../../src/tools/openapi/document.ts";
import { withPack } from "../../mapping/pack-folder.ts";

interface Fault {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly route: string;
  readonly field: string;
}

const PACK = "mappings";
const FAULTS = parse(readFileSync(join(import.meta.dirname, "type-faults.yaml"), "utf8")) as readonly Fault[];
const { catalogs } = readExamples(PACK, []);
const old = describePack(loadPack(PACK), "1");
let generator: unknown;
beforeAll(async () => {
  generator = await readOpenapi(join(import.meta.dirname, "new-api.openapi.yaml"));
});

const checkFolder = (folder: string, isChosen: (route: string) => boolean): Promise<TypeResult[]> =>
  checkTypes(loadPack(folder), { generator, expected: old, results: [], catalogs, seed: 1, isChosen });

const brokenIn = (results: readonly TypeResult[]): string[] =>
  results.flatMap(({ subject, field, counterexample }) => (counterexample ? [`${subject}.${field}`] : []));

/** The faults in groups with one fault of each file, which have no effect on each other. */
function rounds(): Fault[][] {
  const byFile = [...Map.groupBy(FAULTS, ({ file }) => file).values()];
  const most = Math.max(...byFile.map(({ length }) => length));
  return Array.from({ length: most }, (_, round) => byFile.flatMap((faults) => faults[round] ?? []));
}

describe("the types of fields", () => {
  test("hold for the shipped pack", async () => {
    const routes = new Set(FAULTS.map(({ route }) => route));
    const results = await checkFolder(PACK, (route) => routes.has(route));
    expect(brokenIn(results)).toEqual([]);
    expect(results.filter(({ verdict }) => verdict === "not-tested")).toEqual([]);
  });

  test("of 50 seeded faults at least 47 are found, and no other field", async () => {
    const missed: Fault[] = [];
    for (const faults of rounds()) {
      const edits = faults.map(({ file, find, replace }) => ({ file, from: find, to: replace }));
      const routes = new Set(faults.map(({ route }) => route));
      const results = await withPack(
        edits,
        (folder) => checkFolder(folder, (route) => routes.has(route)),
        PACK,
      );
      const broken = brokenIn(results);
      missed.push(...faults.filter(({ field }) => !broken.includes(field)));
      // An expression that fails on a value leaves the route without a response.
      const seeded = new Set(faults.flatMap(({ field, route }) => [field, `${route}.`]));
      expect(broken.filter((name) => !seeded.has(name))).toEqual([]);
    }
    expect(FAULTS).toHaveLength(50);
    expect(missed.slice(3)).toEqual([]);
  }, 180_000);
});
