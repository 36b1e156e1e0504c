/** Lines of `accepted-differences.yaml`: what they accept, and what is wrong with them. */
import { describe, expect, test } from "@jest/globals";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkFiles } from "../../../src/pack/load/checked-pack.ts";
import { PackError } from "../../../src/base/files/diagnostic.ts";
import { loadPack, readPack } from "../../../src/pack/load/load-pack.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { acceptBy } from "../../../src/compare/answers/accepted-differences.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { withPack } from "../../pack/load/pack-folder.ts";

const line = (parts: Readonly<Record<string, string>> = {}): string => {
  const all = {
    route: "GET /books/:number",
    field: "number",
    kind: "format",
    reason: "clients read both",
    until: "2027-01-31",
    ...parts,
  };
  const text = Object.entries(all).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `- ${text.join("\n  ")}\n`;
};

const withLines = <T>(text: string, use: (folder: string) => T): T =>
  withPack([], (folder) => {
    writeFileSync(join(folder, "accepted-differences.yaml"), text);
    return use(folder);
  });

const load = (text: string): Pack => withLines(text, (folder) => loadPack(folder));

function faultsOf(text: string): string[] {
  try {
    load(text);
    return [];
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return error.diagnostics.map(({ line: row, column, message }) => `${row}:${column} ${message}`);
  }
}

describe("a line of accepted differences", () => {
  test("accepts a field and a kind of its route until its last day has ended", () => {
    const lines = load(line()).acceptedDifferences;
    const number = { field: "number", kind: "format" } as const;
    const [before, after] = [Date.parse("2027-01-31T23:59:59.999Z"), Date.parse("2027-02-01")];
    const route = { name: "GET /books/:number" };
    const accepts = acceptBy(lines, route, before);
    expect(accepts(number)).toBe(true);
    expect(accepts({ ...number, kind: "value" })).toBe(false);
    expect(accepts({ ...number, field: "title" })).toBe(false);
    expect(acceptBy(lines, route, after)(number)).toBe(false);
    expect(acceptBy(lines, { name: "GET /books" }, before)(number)).toBe(false);
  });

  test.each(["", "status"])("may name %j, which every response has", (field) => {
    expect(faultsOf(line({ field, kind: "value" }))).toEqual([]);
  });

  test.each([
    [
      "a route that the pack has not",
      line({ route: "GET /boks/:id" }),
      '1:10 the pack has no route "GET /boks/:id"',
    ],
    [
      "a field that no response has",
      line({ field: "titel" }),
      '2:10 responses of GET /books/:number have no field "titel"',
    ],
    ["no day", line({ until: "soon" }), expect.stringMatching(/^5:10 /)],
    ["an unknown kind", line({ kind: "other" }), '3:9 "other" is not allowed here'],
    ["no reason", line({ reason: "" }), "4:11 must not be empty"],
    ["a line that is there already", line() + line(), expect.stringMatching(/^6:.* an earlier line accepts/)],
    ["a map", "route: x", expect.stringMatching(/^1:1 .*list/)],
  ])("with %s is an error with its place", (_, text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test.each([
    ["examples/shipping/pack", "GET /crates/:id", "name"],
    ["examples/shipping/pack", "GET /crates/:id", "errors.is"],
    ["examples/json-api/pack", "GET /tags/:id/similar", "found"],
    ["examples/json-api/pack", "GET /tags", "tags"],
    ["examples/json-api/pack", "GET /posts", "header content-range"],
  ])("may name what responses of %s have in their own envelope: %s %s", (pack, route, field) => {
    const folder = temporaryFolder();
    cpSync(pack, folder, { recursive: true });
    writeFileSync(join(folder, "accepted-differences.yaml"), line({ route, field }));
    expect(loadPack(folder).acceptedDifferences).toHaveLength(1);
  });

  test("is a part of the pack that another thread checks, and of its hash", () => {
    expect(load(line()).hash).not.toBe(load("[]").hash);
    expect(withLines(line(), (folder) => checkFiles(readPack(folder), {}))).toHaveProperty([
      "accepted-differences.yaml",
    ]);
  });
});
