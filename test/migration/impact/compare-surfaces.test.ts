/** What a change of an API means, by its direction: for those who send something, and for those who read an answer. */
import { describe, expect, test } from "@jest/globals";
import { compareSurfaces } from "../../../src/migration/impact/compare-surfaces.ts";
import { openapiSurface } from "../../../src/migration/impact/openapi-surface.ts";

type Json = Record<string, unknown>;

interface Book {
  readonly body?: Json;
  readonly required?: readonly string[];
  readonly answer?: Json;
  readonly answered?: readonly string[];
  readonly parameters?: readonly Json[];
  readonly operation?: Json;
}

const TEXT = { type: "string" };
const schemaOf = (properties: Json, required: readonly string[] = []): Json => ({
  "application/json": { schema: { type: "object", required, properties } },
});

/** A document with one operation. */
function documentOf({
  body = { title: TEXT },
  required,
  answer = { id: TEXT },
  answered,
  parameters,
  operation,
}: Book = {}) {
  return {
    openapi: "3.1.0",
    servers: [{ url: "https://api.example.com/v2" }],
    paths: {
      "/books/{id}": {
        put: {
          parameters,
          requestBody: { content: schemaOf(body, required) },
          responses: { 200: { content: schemaOf(answer, answered) } },
          ...operation,
        },
      },
    },
  };
}

/** The changes as lines: `breaking senders body.title is gone`. */
const changesOf = (old: unknown, now: unknown): string[] =>
  compareSurfaces(openapiSurface(old), openapiSurface(now)).map(({ level, concern, place, what }) =>
    [level, concern, place, what].filter(Boolean).join(" "),
  );

const BETWEEN: readonly (readonly [what: string, old: Book, now: Book, changes: string[]])[] = [
  ["nothing", {}, {}, []],
  ["a new member of a request", {}, { body: { title: TEXT, size: TEXT } }, ["safe senders body.size is new"]],
  [
    "a member that becomes optional",
    { required: ["title"] },
    {},
    ["safe senders body.title becomes optional"],
  ],
  [
    "types of a request that are fewer",
    { body: { title: { type: ["string", "null"] } } },
    {},
    ["breaking senders body.title no longer takes null"],
  ],
  [
    "types of a request that are more",
    { body: { title: { type: "integer" } } },
    { body: { title: { type: "number" } } },
    [],
  ],
  [
    "items of other types",
    { body: { title: { type: "array", items: TEXT } } },
    { body: { title: { type: "array", items: { type: "integer" } } } },
    ["breaking senders body.title no longer takes string"],
  ],
  [
    "words of a request that are fewer and more",
    { body: { title: { enum: ["a", "b"] } } },
    { body: { title: { enum: ["b", "c"] } } },
    ["breaking senders body.title no longer takes a", "safe senders body.title also takes c"],
  ],
  [
    "any text that becomes words",
    {},
    { body: { title: { type: "string", enum: ["a"] } } },
    ["breaking senders body.title takes only a"],
  ],
  [
    "limits of a request that are stricter, and one that is not",
    { body: { title: { type: "string", maxLength: 9, minLength: 1 } } },
    { body: { title: { type: "string", maxLength: 5, minLength: 0, pattern: "^a" } } },
    ["breaking senders body.title is limited: maxLength 5, pattern ^a"],
  ],
  [
    "a new member of an answer",
    {},
    { answer: { id: TEXT, size: TEXT } },
    ["safe readers answer.size is new"],
  ],
  [
    "a member of an answer that may be missing",
    { answered: ["id"] },
    {},
    ["breaking readers answer.id may be missing"],
  ],
  [
    "types of an answer that are more",
    {},
    { answer: { id: { type: ["string", "null"] } } },
    ["breaking readers answer.id may be null"],
  ],
  ["types of an answer that are fewer", { answer: { id: { type: ["string", "null"] } } }, {}, []],
  [
    "words of an answer that are more and fewer",
    { answer: { id: { enum: ["a", "b"] } } },
    { answer: { id: { enum: ["b", "c"] } } },
    ["advice readers answer.id may be c", "advice readers answer.id is no longer a"],
  ],
  [
    "a parameter that is gone, and one that is new and required",
    { parameters: [{ name: "page", in: "query", schema: TEXT }] },
    { parameters: [{ name: "tenant", in: "header", required: true, schema: TEXT }] },
    ["breaking senders query.page is gone", "breaking omitters header.tenant is new and required"],
  ],
  [
    "scopes that are more",
    { operation: { security: [{ oauth: ["read"] }] } },
    { operation: { security: [{ oauth: ["read", "write"] }] } },
    ["breaking callers needs the scope write"],
  ],
  [
    "a token that becomes needed",
    {},
    { operation: { security: [{ oauth: [] }] } },
    ["breaking callers needs a token"],
  ],
  ["scopes that are fewer", { operation: { security: [{ oauth: ["read"] }] } }, {}, []],
  [
    "an operation that becomes deprecated",
    {},
    { operation: { deprecated: true } },
    ["advice callers becomes deprecated"],
  ],
  [
    "another status",
    {},
    { operation: { responses: { 201: { content: schemaOf({ id: TEXT }) } } } },
    ["breaking callers answers with status 201"],
  ],
];

test.each(BETWEEN)("%s", (_what, old, now, changes) => {
  expect(changesOf(documentOf(old), documentOf(now))).toEqual(changes);
});

describe("operations", () => {
  test("that are gone break all their callers, and new ones nobody", () => {
    const none = { ...documentOf(), paths: { "/shelves": { get: { responses: {} } } } };
    expect(changesOf(documentOf(), none)).toEqual(["breaking callers is gone", "safe callers is new"]);
  });

  test("are the same whatever the names of their path parameters are", () => {
    const { paths, ...rest } = documentOf();
    const renamed = { ...rest, paths: { "/books/{number}": paths["/books/{id}"] } };
    expect(changesOf(documentOf(), renamed)).toEqual([]);
  });
});

describe("schemas", () => {
  test("inside alternatives are read: a member is required if all of them require it", () => {
    const part = (name: string): Json => ({
      type: "object",
      required: [name, "kind"],
      properties: { [name]: TEXT, kind: TEXT },
    });
    const old = documentOf({ body: { it: { oneOf: [part("a"), part("b")] } } });
    const now = documentOf({ body: { it: { oneOf: [part("a")] } } });
    expect(changesOf(old, now)).toEqual([
      "breaking senders body.it.b is gone",
      "breaking omitters body.it.a becomes required",
    ]);
  });

  test("of one member in several parts are read together, with all their limits", () => {
    const body = (maxLength: number): Json => ({
      it: {
        allOf: [
          { type: "object", properties: { name: { type: "string", enum: ["a", "b"] } } },
          { properties: { name: { maxLength, description: "short" } } },
        ],
      },
    });
    expect(changesOf(documentOf({ body: body(9) }), documentOf({ body: body(5) }))).toEqual([
      "breaking senders body.it.name is limited: maxLength 5",
    ]);
  });

  test("that contain themselves are read once", () => {
    const tree: Json = { type: "object", properties: { name: TEXT } };
    (tree["properties"] as Json)["child"] = tree;
    const flat = { type: "object", properties: { child: { type: "object" } } };
    expect(changesOf(documentOf({ body: { tree } }), documentOf({ body: { tree: flat } }))).toContain(
      "breaking senders body.tree.name is gone",
    );
  });
});
