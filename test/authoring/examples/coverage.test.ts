/** `check` counts what the golden cases of a pack show. */
import { expect, test } from "@jest/globals";
import { coverageOf } from "../../../src/authoring/examples/coverage.ts";
import { readExamples } from "../../../src/authoring/examples/example.ts";
import { compareExamples } from "../../../src/authoring/examples/run-examples.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("examples/library/pack");
const { examples, catalogs } = readExamples("examples/library/pack", []);
const results = await compareExamples(pack, examples, catalogs);

test("routes and fields that a golden case shows are covered", () => {
  expect(coverageOf(pack, results)).toEqual({
    routes: 11,
    fields: 12,
    missingRoutes: [],
    missingFields: [],
  });
});

test("routes without a golden case, and fields that no response has, are named", () => {
  const some = results.filter(({ example }) => !/tray|shelves/.test(example.source.file));
  const { missingRoutes, missingFields } = coverageOf(pack, some);
  expect(missingRoutes).toContain("GET /trays/:number");
  expect(missingFields.every((field) => field.startsWith("tray."))).toBe(true);
  expect(missingFields).not.toEqual([]);
});
