/** What compared answers have shown of their routes, and what not. */
import { describe, expect, test } from "@jest/globals";
import { createCoverage, findGaps } from "../../../src/compare/counts/coverage.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("examples/library/pack");
const cover = createCoverage(pack);
const coverJson = (route: string, body: unknown): string[] =>
  [...cover(route, Buffer.from(JSON.stringify(body)))].sort();

describe("coverage", () => {
  test("is the fields with a value in any row, and the words of value tables", () => {
    const books = [
      { number: 1, title: null, state: "lent", shelf: { code: "Z9" } },
      { number: 2, title: null, state: "stolen", other: 1 },
    ];
    expect(coverJson("GET /books", { books, sheet: 1 })).toEqual([
      "books.number",
      "books.shelf",
      "books.state",
      "books.state=lent",
    ]);
  });

  test.each([
    ["GET /books", "no JSON"],
    ["GET /books", '["books"]'],
    ["GET /books", `${"[".repeat(2000)}${"]".repeat(2000)}`],
    ["GET /nothing", '{"books":[{"number":1}]}'],
  ])("of %s is nothing for %.20j", (route, body) => {
    expect(cover(route, Buffer.from(body))).toEqual([]);
  });

  test("lacks fields without a value, but for members of those, and words of fields that have one", () => {
    const route = "GET /books/:number";
    expect(findGaps(route, new Set(["number", "state", "state=lent"]), pack)).toEqual({
      fields: ["title", "shelf", "price", "lent_to", "since"],
      words: ["state=available"],
    });
    const alpha = packIn("mappings");
    const { fields } = findGaps("GET /vm/instances/:id", new Set(), alpha);
    expect(fields).toContain("backups.last_backup");
    expect(fields).not.toContain("backups.last_backup.id");
  });

  test("is of the objects in results for many ids", () => {
    const calls = packIn("examples/shipping/pack");
    const route = "GET /deliveries/states";
    const results = [{ id: "7", status: 200, delivery: { id: 7, state: "open" } }];
    const seen = createCoverage(calls)(route, Buffer.from(JSON.stringify({ results, failed: 0 })));
    expect(seen).toEqual(["results.delivery.id", "results.delivery.state"]);
    expect(findGaps(route, new Set(seen), calls).fields).toEqual([]);
    // Its results have no objects.
    expect(findGaps("POST /deliveries/move", new Set(), calls).fields).toEqual([]);
  });

  test("is of lists where the route has them", () => {
    const envelopes = packIn("examples/json-api/pack");
    const route = "GET /tags/:id/similar";
    const body = Buffer.from(JSON.stringify({ found: [{ name: "b" }], total: 1 }));
    expect(createCoverage(envelopes)(route, body)).toEqual(["found.name"]);
  });
});
