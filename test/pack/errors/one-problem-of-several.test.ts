/** Texts of errors that name one problem where a request has several. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const SHAPES = [
  { code: "missing", shape: { text: "missing {field}", code: "$code", at: "$pointer" } },
  { code: "bad", shape: { text: "bad {field}" } },
];

const start = (responses: object) =>
  startSmallGateway({
    client: { responses: { error: { text: "$message" }, ...responses } },
    upstream: { responses: { error: { errors: [{ at: "$field", code: "$code" }] } } },
    pack: {
      errors: {
        codes: { required: "missing", invalid: "bad" },
        validation: { codes: { required: "missing", default: "bad" } },
      },
    },
    book: {
      fields: { id: "id", size: "length", title: "label" },
      routes: [
        { client: "GET /books/:id", upstream: "GET /items/{id}" },
        {
          client: "GET /books",
          upstream: "GET /items",
          response: "list",
          query: {
            parameters: {
              a: { upstream: "a", schema: { type: "integer" } },
              b: { upstream: "b", required: true },
            },
          },
        },
      ],
    },
  });

describe("outside of an array the field and the code are those of the problem", () => {
  test("that the shape of a code is for, if a request breaks several rules", async () => {
    const gateway = await start({ error_shapes: SHAPES });
    const { body } = await gateway.send("GET /books?a=x");
    expect(body).toEqual({ text: "missing b", code: "missing", at: "/b" });
  });

  test("that the shape of a code is for, if an error of the upstream has several", async () => {
    const gateway = await start({ error_shapes: SHAPES });
    const errors = [
      { at: "length", code: "invalid" },
      { at: "label", code: "required" },
    ];
    gateway.service.respondWith(json(400, { errors }));
    const { body } = await gateway.send("GET /books/7");
    expect(body).toEqual({ text: "missing title", code: "missing", at: "/title" });
  });

  test("that has a field, for a shape of problems with fields", async () => {
    const gateway = await start({ error_shapes: [{ fields: true, shape: { text: "{code} {field}" } }] });
    gateway.service.respondWith(json(400, { errors: [{ code: "odd" }, { at: "label", code: "odd" }] }));
    expect((await gateway.send("GET /books/7")).body).toEqual({ text: "odd title" });
  });

  test("that is the first one, for all other shapes", async () => {
    const gateway = await start({ error: { text: "{code} {field}" } });
    const { body } = await gateway.send("GET /books?a=x");
    expect(body).toEqual({ text: "bad a" });
  });
});

describe("a name in braces is a use of its value", () => {
  const text = { text: "bad value of {field}" };
  const query = { field: "parameter" };

  test.each<[where: string, responses: object, book: object]>([
    ["error", { error: text, no_field: "none" }, {}],
    ["a shape of some errors", { error_shapes: [{ status: 422, shape: text }], no_field: "none" }, {}],
    ["an envelope", {}, { envelope: { client: { error: text, no_field: "none" } } }],
  ])("of %s", (_where, responses, book) => {
    const pack = { errors: { validation: { query } } };
    expect(faultsOfSmallPack({ client: { responses }, pack, book })).toEqual([]);
  });

  test("but not of the errors that are read", () => {
    const responses = { error: { message: "$message", text: "{field}" }, no_field: "none" };
    expect(faultsOfSmallPack({ upstream: { responses } })).toEqual([
      '"no_field" has no effect: errors have no $field',
    ]);
  });

  test("also of codes, and of the message beside an array", () => {
    const error = { text: "{code}: {message}", errors: [{ at: "$field" }] };
    const validation = { codes: { default: "bad" }, message: "Invalid." };
    expect(faultsOfSmallPack({ client: { responses: { error } }, pack: { errors: { validation } } })).toEqual(
      [],
    );
  });

  test("and where there is none, the message names all places", () => {
    expect(faultsOfSmallPack({ client: { responses: { no_field: "none" } } })).toEqual([
      '"no_field" has no effect: errors have no $field and no text with {field}',
    ]);
  });
});
