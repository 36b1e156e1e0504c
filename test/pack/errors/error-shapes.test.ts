/** Errors in the shape, with the statuses and with the codes that a pack chooses. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway;

const ERROR = {
  message: "$message",
  code: "$code",
  errors: [{ resource: "$name", field: "$field", code: "$code" }],
};
const VALIDATION = {
  status: 422,
  message: "Validation Failed",
  codes: {
    required: "missing_field",
    unknown: "unknown_field",
    type: "wrong_type",
    pattern: "malformed",
    default: "invalid",
  },
};
const BOOK = {
  fields: {
    id: "id",
    title: { upstream: "name", filter: true },
    year: "published",
    isbn: "isbn",
    shelf: "shelf",
  },
  bodies: {
    create: {
      checks: [{ field: "shelf", message: 'shelf = "full" ? "This shelf is full."' }],
      schema: {
        type: "object",
        required: ["title"],
        properties: {
          title: { type: "string" },
          year: { type: "integer", minimum: 1450 },
          isbn: { type: "string", pattern: "^\\d{13}$" },
          shelf: { type: "string" },
        },
      },
    },
  },
  routes: [
    { client: "GET /books", upstream: "GET /items", response: "list" },
    {
      client: "GET /books/:id",
      upstream: "GET /items/{id}",
      query: { parameters: { lang: { upstream: "l", schema: { enum: ["en"] } } } },
    },
    { client: "POST /books", upstream: "POST /items", body: "create" },
    { client: "POST /books/:id/burn", reject: "never" },
  ],
};

async function start(errors: object, error: object = ERROR): Promise<SmallGateway> {
  gateway = await startSmallGateway({
    client: {
      credentials: { scheme: "Token" },
      query: { unknown: "reject" },
      bodies: { unknown: "reject" },
      pagination: { page: { parameter: "page" }, size: 10 },
      filters: { parameter: "{field}" },
      responses: { error },
    },
    upstream: {
      credentials: { scheme: "Bearer" },
      filters: { parameter: "{field}" },
      responses: {
        error: {
          title: "$message",
          type: "$code",
          problems: [{ at: "$field", text: "$message", type: "$code" }],
        },
      },
    },
    pack: { errors, messages: { never: "Books do not burn." } },
    book: BOOK,
  });
  gateway.service.respondWith(json(200, []));
  return gateway;
}

const headers = { authorization: "Token t-1" };

describe("a request that breaks a rule of the pack", () => {
  test.each<[what: string, call: string, body: object | undefined, errors: object[]]>([
    [
      "in its body",
      "POST /books",
      { year: "late", isbn: "x", pages: 3 },
      [
        { resource: "book", field: "title", code: "missing_field" },
        { resource: "book", field: "pages", code: "unknown_field" },
        { resource: "book", field: "year", code: "wrong_type" },
        { resource: "book", field: "isbn", code: "malformed" },
      ],
    ],
    [
      "in a limit without a code",
      "POST /books",
      { title: "a", year: 9 },
      [{ resource: "book", field: "year", code: "invalid" }],
    ],
    [
      "in an expression",
      "POST /books",
      { title: "a", shelf: "full" },
      [{ resource: "book", field: "shelf", code: "invalid" }],
    ],
    [
      "in a query parameter",
      "GET /books/7?lang=fr",
      undefined,
      [{ resource: "book", field: "lang", code: "invalid" }],
    ],
    [
      "in an unknown query parameter",
      "GET /books/7?x=1",
      undefined,
      [{ resource: "book", field: "x", code: "unknown_field" }],
    ],
    ["in a filter", "GET /books?title=a&title=b", undefined, [{ resource: "book", code: "invalid" }]],
    ["in a page number", "GET /books?page=0", undefined, [{ resource: "book", code: "invalid" }]],
  ])(
    "%s has the pack's status, text and codes, and the name of the resource",
    async (_what, call, body, errors) => {
      const { send, service } = await start({ validation: VALIDATION });
      const response = await send(call, { headers, ...(body && { body }) });
      expect([response.status, service.calls]).toEqual([422, []]);
      expect(response.body).toMatchObject({ message: "Validation Failed", code: expect.any(String) });
      expect(response.body.errors).toHaveLength(errors.length);
      expect(response.body.errors).toEqual(expect.arrayContaining(errors));
    },
  );

  test("has its reasons as text where the pack has none", async () => {
    const { send } = await start({ validation: { status: 422 } });
    const { status, body } = await send("POST /books", { headers, body: {} });
    expect([status, body.message]).toEqual([422, "This field is required."]);
    expect(body.errors).toEqual([{ resource: "book", field: "title" }]);
  });

  test("is a 400 without these keys", async () => {
    const { send } = await start({ status_codes: { 400: "bad" } });
    const { status, body } = await send("POST /books", { headers, body: {} });
    expect([status, body.errors]).toEqual([400, [{ resource: "book", field: "title", code: "bad" }]]);
  });
});

test.each([
  ["a body that is not JSON", "{", 400],
  ["a body that is not an object", "[]", 400],
])("%s breaks no rule of the pack", async (_what, raw, expected) => {
  const { send } = await start({ validation: VALIDATION });
  const { status, body } = await send("POST /books", { headers, raw });
  expect([status, body.message]).not.toContain("Validation Failed");
  expect(status).toBe(expected);
});

describe("`errors.statuses` applies to the gateway's own errors", () => {
  const statuses = { 400: 422, 401: 403, 404: 410, 415: 406, 405: 400 };

  test.each<[what: string, call: string, options: object, expected: number]>([
    ["an invalid body", "POST /books", { headers, body: {} }, 422],
    ["a body that is not JSON", "POST /books", { headers, raw: "{" }, 422],
    ["a missing token", "GET /books/7", {}, 403],
    ["an unknown path", "GET /none", { headers }, 410],
    ["a media type", "POST /books", { headers: { ...headers, "content-type": "text/csv" }, raw: "a" }, 406],
  ])("%s", async (_what, call, options, expected) => {
    const { send, service } = await start({ statuses });
    expect((await send(call, options)).status).toBe(expected);
    expect(service.calls).toEqual([]);
  });

  test("but not to the status that a route has for what the upstream can't do", async () => {
    const { send } = await start({ statuses });
    expect((await send("POST /books/7/burn", { headers })).status).toBe(400);
  });

  test("once: a status that was translated is not translated again", async () => {
    const { send, service } = await start({ statuses: { 409: 404, 404: 410 } });
    service.respondWith(json(409, { title: "Lent." }));
    expect((await send("GET /books/7", { headers })).status).toBe(404);
  });
});

describe("an error of the upstream with a text of its own and with problems", () => {
  const problems = [
    { at: "name", text: "name is used.", type: "taken" },
    { at: "published", text: "Too late.", type: "late" },
  ];
  const respond = async (error: object, body: object) => {
    const { send, service } = await start(
      { codes: { late: "too_late", conflict: { code: "clash", status: 423 } } },
      error,
    );
    service.respondWith(json(409, body));
    return send("POST /books", { headers, body: { title: "a" } });
  };

  test("keeps both where clients have a place for both", async () => {
    const shape = {
      title: "$title",
      detail: "$message",
      code: "$code",
      errors: [{ reason: "$message", code: "$code" }],
    };
    const { status, body } = await respond(shape, { title: "Two problems.", type: "conflict", problems });
    expect(status).toBe(423);
    expect(body).toEqual({
      title: "Locked",
      detail: "Two problems.",
      code: "clash",
      errors: [
        { reason: "title is used.", code: "taken" },
        { reason: "Too late.", code: "too_late" },
      ],
    });
  });

  test("adds the texts of the problems where these have no place", async () => {
    const { body } = await respond(ERROR, { title: "Two problems.", problems });
    expect(body.message).toBe("Two problems. title is used. Too late.");
  });

  test("is the text of the problems where clients have one text and one field", async () => {
    const { body } = await respond(
      { param: "$field", message: "$message" },
      { title: "A problem.", problems: [problems[0]] },
    );
    expect(body).toEqual({ param: "title", message: "title is used." });
  });

  test("gives its text to problems that have a field and no text", async () => {
    const shape = { errors: [{ field: "$field", reason: "$message" }] };
    const { body } = await respond(shape, { title: "Invalid.", problems: [{ at: "name" }, {}] });
    expect(body.errors).toEqual([{ field: "title", reason: "Invalid." }]);
  });

  test("is cut to a limit", async () => {
    const { body } = await respond(
      { message: "$message", errors: [{ reason: "$message" }] },
      { title: "x".repeat(9000), problems },
    );
    expect(body.message).toHaveLength(2000);
  });
});

describe("an error of the upstream without a text keeps its status", () => {
  const fields = [{ at: "name" }];
  test.each<[what: string, body: unknown]>([
    ["with null", null],
    ["with an array", []],
    ["with an empty object", {}],
    ["with an empty text", { title: "" }],
    ["with null in place of a text", { title: null, type: null, problems: null }],
    ["with a code", { type: "lost" }],
    ["with a field", { problems: fields }],
  ])("%s", async (_what, body) => {
    const { send, service } = await start({});
    service.respondWith(json(404, body));
    for (const call of ["GET /books/7", "GET /books"]) {
      const response = await send(call, { headers });
      expect([response.status, response.body.message]).toEqual([404, expect.stringMatching(/./)]);
    }
  });

  test("and is a title where clients have no text", async () => {
    const { send, service } = await start({}, { error: "$title" });
    service.respondWith(json(404, {}));
    const { status, body } = await send("GET /books/7", { headers });
    expect([status, body]).toEqual([404, { error: "Not Found" }]);
  });
});

describe("a rule of the whole body", () => {
  const REASON = "Must have at least 1 member.";
  const refuse = async (responses: object) => {
    gateway = await startSmallGateway({
      client: { responses },
      book: {
        bodies: { write: { schema: { type: "object", minProperties: 1, message: REASON } } },
        routes: [{ client: "POST /books", upstream: "POST /items", body: "write" }],
      },
    });
    return (await gateway.send("POST /books", { body: {} })).body;
  };

  test.each<[what: string, responses: object, expected: object]>([
    [
      "$field and $pointer are left out",
      { error: { errors: [{ field: "$field", at: "$pointer", text: "$message" }] } },
      { errors: [{ text: REASON }] },
    ],
    [
      "$field is no_field",
      { error: { errors: { $field: ["$message"] } }, no_field: "base" },
      { errors: { base: [REASON] } },
    ],
    [
      "the shape is one for problems without a field",
      {
        error: { errors: { $field: ["$message"] } },
        error_shapes: [{ status: 400, fields: false, shape: { text: "$message" } }],
      },
      { text: REASON },
    ],
  ])("has no field: %s", async (_what, responses, expected) => {
    expect(await refuse(responses)).toEqual(expected);
  });
});

describe("errors of the upstream by field", () => {
  const startByField = async (errors: unknown) => {
    gateway = await startSmallGateway({
      client: { responses: { error: { errors: [{ field: "$pointer", text: "$message" }] } } },
      upstream: { responses: { error: { errors: { $field: ["$message"] } } } },
    });
    gateway.service.respondWith(json(422, { errors }));
    return gateway.send("GET /books/7");
  };

  test("may have one text in place of a list, and no more than 100 problems are read", async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`x${index}`, "No."]));
    const { status, body } = await startByField({ name: "Used.", ...many });
    expect(status).toBe(422);
    expect(body.errors[0]).toEqual({ field: "/title", text: "Used." });
    expect(body.errors).toHaveLength(100);
  });

  test.each([null, 7, "text", [], { name: null }, { name: [null, 7, [[]]] }, { name: {} }])(
    "that are none (%j) keep the status",
    async (errors) => {
      const { status, body } = await startByField(errors);
      expect([status, body.errors]).toEqual([422, [{ text: "The request was refused." }]]);
    },
  );
});

describe("the index of an item in an error", () => {
  const startWith = async (responses: object) => {
    gateway = await startSmallGateway({
      client: { responses },
      upstream: { responses: { error: { errors: [{ at: "$field", text: "$message" }] } } },
      book: {
        fields: { id: "id", pages: { upstream: "sheets" } },
        bodies: {
          create: {
            schema: {
              type: "object",
              properties: { pages: { type: "array", items: { type: "object", required: ["no"] } } },
            },
          },
        },
        routes: [{ client: "POST /books", upstream: "POST /items", body: "create" }],
      },
    });
    const { service, send } = gateway;
    service.respondWith(json(400, { errors: [{ at: "sheets.2.no", text: "No." }] }));
    const [ofUpstream, ofGateway] = [
      await send("POST /books", { body: { pages: [] } }),
      await send("POST /books", { body: { pages: [{ no: 1 }, {}] } }),
    ];
    return [ofUpstream.body.at, ofGateway.body.at];
  };

  test.each<[form: string, responses: object, expected: string[]]>([
    ["left out", { error: { at: "$field" } }, ["pages.no", "pages.no"]],
    ["between dots", { error: { at: "$field" }, field_indexes: "dots" }, ["pages.2.no", "pages.1.no"]],
    ["in brackets", { error: { at: "$field" }, field_indexes: "brackets" }, ["pages[2].no", "pages[1].no"]],
    ["in a pointer", { error: { at: "$pointer" } }, ["/pages/2/no", "/pages/1/no"]],
  ])("is %s, whether the upstream or the gateway reports it", async (_form, responses, expected) =>
    expect(await startWith(responses)).toEqual(expected),
  );
});

test("problems in a list inside of the only item of another one are read and written", async () => {
  const violations = (at: string, text: string) => [{ kind: "invalid", violations: [{ at, text }] }];
  gateway = await startSmallGateway({
    client: { responses: { error: { details: violations("$field", "$message") } } },
    upstream: { responses: { error: { status: { details: violations("$field", "$message") } } } },
  });
  const problems = [
    { at: "name", text: "Too long." },
    { at: "id", text: "Is used." },
  ];
  const details = [{ kind: "other" }, { kind: "invalid", violations: problems }];
  gateway.service.respondWith(json(400, { status: { details } }));
  const { status, body } = await gateway.send("GET /books/7");
  expect(status).toBe(400);
  expect(body.details).toEqual([
    {
      kind: "invalid",
      violations: [
        { at: "title", text: "Too long." },
        { at: "id", text: "Is used." },
      ],
    },
  ]);
});

describe("errors that have a code and no text", () => {
  const respond = async (errors: object, error: object, code: string) => {
    gateway = await startSmallGateway({
      client: { responses: { error } },
      upstream: { responses: { error: { error: "$code" } } },
      pack: { errors },
    });
    gateway.service.respondWith(json(409, { error: code }));
    const { status, body } = await gateway.send("GET /books/7");
    return [status, body];
  };
  const both = { code: "$code", text: "$message" };

  test.each<[what: string, errors: object, error: object, code: string, expected: unknown[]]>([
    ["pass to clients that have no text either", {}, { fault: "$code" }, "lent", [409, { fault: "lent" }]],
    ["have their code as text", {}, both, "lent", [409, { code: "lent", text: "lent" }]],
    [
      "have the client's code as text",
      { codes: { lent: "gone" } },
      both,
      "lent",
      [409, { code: "gone", text: "gone" }],
    ],
    [
      "have the text of the pack, with the same code",
      { codes: { lent: { message: "It is lent." } } },
      both,
      "lent",
      [409, { code: "lent", text: "It is lent." }],
    ],
    [
      "have the rule of other codes",
      { codes: { lent: "gone" }, other_codes: { code: "other", status: 400, message: "No." } },
      both,
      "e17",
      [400, { code: "other", text: "No." }],
    ],
    [
      "have the text of the status where their code is dropped",
      { other_codes: "drop" },
      both,
      "e17",
      [409, { text: "The request was refused." }],
    ],
    [
      "have the code of the status where theirs is dropped",
      { other_codes: "drop", status_codes: { 409: "conflict" } },
      both,
      "e17",
      [409, { code: "conflict", text: "The request was refused." }],
    ],
  ])("%s", async (_what, errors, error, code, expected) =>
    expect(await respond(errors, error, code)).toEqual(expected),
  );
});
