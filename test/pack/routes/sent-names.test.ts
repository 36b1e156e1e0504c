/** The names that clients may send to a route, and which of them a request has. */
import { expect, test } from "@jest/globals";
import { NumberedNames } from "../../../src/audit/record/numbered-names.ts";
import { parseQuery } from "../../../src/pack/paths/query.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { NO_CATALOGS } from "../../../src/pack/translation-context.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const WORDS = Array.from({ length: 2000 }, (_, n) => `word-${n}`);

/** The names of a route that takes books. */
function namesOf(properties: object, fields: object = {}) {
  const folder = writeSmallPack({
    book: {
      fields: { id: "id", title: "name", ...fields },
      bodies: { create: { schema: { type: "object", properties } } },
      routes: [
        {
          client: "POST /books",
          upstream: "POST /items",
          body: "create",
          query: {
            parameters: { lang: "locale", sort: { upstream: "by", schema: { enum: ["new", "old"] } } },
          },
        },
      ],
    },
  });
  const found = loadPack(folder).sentNames.get("POST /books");
  if (!found) throw new Error("the pack has no such route");
  return found;
}

function sentNames(names: ReturnType<typeof namesOf>, body: unknown, query = ""): readonly string[] {
  const bits = names.bitsOf({ body, query: parseQuery(query), filter: undefined });
  return JSON.parse(new NumberedNames(names.names, bits).text ?? "[]") as string[];
}

test("a request only has the members, words and parameters that it sent", () => {
  const names = namesOf(
    { title: { type: "string" }, kind: { enum: ["novel", "poem", 7] } },
    { kind: "type" },
  );
  expect(names.names).toEqual([
    "body.title",
    "body.kind",
    "query.lang",
    "query.sort",
    "body.kind=novel",
    "body.kind=poem",
    "body.kind=7",
    "query.sort=new",
    "query.sort=old",
  ]);
  expect(sentNames(names, { kind: "poem", other: 1 }, "sort=old&unknown=1")).toEqual([
    "body.kind",
    "query.sort",
    "body.kind=poem",
    "query.sort=old",
  ]);
  expect(sentNames(names, { kind: 7, title: null })).toEqual(["body.title", "body.kind", "body.kind=7"]);
});

test("a request without any of the names has no bit that is set", () => {
  const names = namesOf({ title: { type: "string" } });
  for (const body of [
    undefined,
    null,
    "text",
    7,
    [],
    {},
    { other: 1 },
    Object.create({ title: "inherited" }),
  ])
    expect(names.bitsOf({ body, query: undefined, filter: undefined })).toEqual(new Uint8Array(1));
});

test.each(["mappings", "examples/library/pack", "examples/payments/pack", "examples/json-api/pack"])(
  "each field by which clients can filter a list of %s is a name",
  (folder) => {
    const pack = loadPack(folder);
    const lists = pack.routes.filter(({ response }) => response === "list");
    expect(lists.length).toBeGreaterThan(0);
    for (const { name, kind, filterFields, selectFields } of lists) {
      const fields = kind === "catalog" || kind === "aggregated" ? selectFields : filterFields;
      const names = [...fields(NO_CATALOGS).keys()].map((field) => `filter.${field}`);
      expect(pack.sentNames.get(name)?.names).toEqual(expect.arrayContaining(names));
    }
  },
);

test("another spelling of a member counts as the documented one", () => {
  const names = namesOf(
    { author: { type: "string" } },
    { author: { upstream: "writer", aliases: ["written_by"] } },
  );
  expect(sentNames(names, { written_by: "a" })).toEqual(["body.author"]);
});

test("members of list items are named without their places", () => {
  const item = { type: "object", properties: { mark: { enum: ["a", "b"] } } };
  const names = namesOf({ notes: { type: "array", items: item } }, { notes: "notes" });
  expect(sentNames(names, { notes: [{ mark: "a" }, { mark: "c" }] })).toEqual([
    "body.notes",
    "body.notes.mark",
    "body.notes.mark=a",
  ]);
});

test("the last words are omitted if there are more than 1024 names, but no member or parameter", () => {
  const names = namesOf({ title: { enum: WORDS } });
  expect(names.names).toHaveLength(1024);
  expect(names.names.slice(0, 3)).toEqual(["body.title", "query.lang", "query.sort"]);
  expect(sentNames(names, { title: "word-1999" })).toEqual(["body.title"]);
  expect(sentNames(names, { title: "word-7" })).toEqual(["body.title", "body.title=word-7"]);
});
