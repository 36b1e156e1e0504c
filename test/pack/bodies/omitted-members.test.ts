/** Members that responses leave out: `omit_null` of the client and of fields. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** The text of the response for an object of the upstream. */
async function respond(upstream: unknown, { fields, client }: { fields: object; client?: object }) {
  const pack: SmallPack = { client: client ?? { responses: { omit_null: true } }, book: { fields } };
  const folder = writeSmallPack(pack);
  const run = createDryRun(loadPack(folder), {
    call: async () => ({ status: 200, headers: {}, bytes: Buffer.from(JSON.stringify(upstream)), ms: 0 }),
    close: async () => {},
  });
  cleanups.push(() => run.catalogs.stop());
  return (await run.send({ method: "GET", path: "/books/3" })).response.body;
}

const FIELDS = { title: "name", pages: "size.pages", year: { read: "$number(year)" }, id: "id" };

describe("a client whose responses leave out null", () => {
  test.each([
    [
      "all values",
      { id: 3, name: "A", size: { pages: 7 }, year: "1" },
      '{"title":"A","pages":7,"year":1,"id":3}',
    ],
    ["null first", { id: 3, name: null, size: { pages: 7 }, year: "1" }, '{"pages":7,"year":1,"id":3}'],
    ["nothing last", { name: "A", size: { pages: 7 }, year: "1" }, '{"title":"A","pages":7,"year":1}'],
    ["an object that is missing", { id: 3, name: "A" }, '{"title":"A","id":3}'],
    ["no value at all", {}, "{}"],
  ])("gets an object with %s", async (_case, upstream, expected) =>
    expect(await respond(upstream, { fields: FIELDS })).toBe(expected),
  );

  test("gets defaults, empty lists, and fields that ask for null", async () => {
    const fields = {
      title: { upstream: "name", default: "" },
      authors: { upstream: "author", as_array: true },
      year: { upstream: "year", omit_null: false },
      constant: { const: null },
    };
    expect(await respond({}, { fields })).toBe('{"title":"","authors":[],"year":null}');
  });

  test("gets nested members without null, and an object without members", async () => {
    const fields = { "size.pages": "pages", "size.weight": "weight", "owner.name": "owner" };
    expect(await respond({ weight: 5 }, { fields })).toBe('{"size":{"weight":5},"owner":{}}');
  });

  test("gets values that end with a comma", async () => {
    expect(await respond({ name: "A," }, { fields: { title: "name", id: "id" } })).toBe('{"title":"A,"}');
  });
});

test("one field can be left out", async () => {
  const fields = { id: "id", title: { upstream: "name", omit_null: true } };
  expect(await respond({}, { fields, client: {} })).toBe('{"id":null}');
});
