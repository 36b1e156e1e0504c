/** The query parameters that a pack names, and all others. */
import { afterAll, describe, expect, test } from "@jest/globals";
import { formatParameter } from "../../../src/pack/paths/query.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { sendToLibrary } from "../load/library-gateway.ts";
import { faultsOf } from "../load/pack-folder.ts";
import { json } from "../../support/fake-v4.ts";
import { RECORDING } from "../../support/gateway.ts";
import { packIn } from "../../support/packs.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";

const sent: string[] = [];
const run = createDryRun(packIn("examples/billing/pack"), {
  async call({ method, path }) {
    sent.push(`${method} ${path}`);
    return { status: 200, headers: {}, bytes: Buffer.from('{"content":[],"totalElements":0}'), ms: 0 };
  },
  close: async () => {},
});
afterAll(() => run.catalogs.stop());

/** The status, the message of an error, and the upstream request. */
async function get(path: string) {
  sent.length = 0;
  const { response, context } = await run.send({ method: "GET", path });
  const { errors } = JSON.parse(response.body) as { errors?: { param?: string; message: string }[] };
  return {
    status: response.status,
    errors,
    error: errors?.[0],
    sent: [...sent],
    ignored: context.ignoredParameters,
  };
}

describe("a parameter", () => {
  test("that is repeated without being a list is a 400, and the upstream is not called", async () => {
    const { status, error, sent: calls } = await get("/invoices?lang=de&lang=en");
    expect([status, error, calls]).toEqual([400, { param: "lang", message: "There is more than one." }, []]);
  });

  test("that does not fit its schema is a 400", async () => {
    const { status, error } = await get("/invoices/3?lang=fr");
    expect([status, error]).toEqual([400, { param: "lang", message: "Must be one of en, de." }]);
  });

  test.each(["0", "1.5", "1e9999", "9007199254740993", " 1", "", "0x10", "１"])(
    "of type integer is not the text %j",
    async (text) => {
      const { status, error } = await get(`/invoices/3/preview?days=${encodeURIComponent(text)}`);
      expect([status, error?.param]).toEqual([400, "days"]);
    },
  );

  test.each<[text: string, calls: readonly string[]]>([
    ["9007199254740993", []],
    ["0.1", ["GET /api/new/items/7?least=0.1"]],
  ])(
    "of type number is rejected where it would be rounded, and sent as it is otherwise: %s",
    async (text, calls) => {
      const edit = {
        file: "pack.yaml",
        from: "  id: code\n",
        to: "  id: code\n  query: { parameters: { least: { upstream: least, schema: { type: number } } } }\n",
      };
      const library = await sendToLibrary(
        { edits: [edit] },
        { method: "GET", path: `/old/books/7?least=${text}` },
      );
      expect(library.sent.map(({ call }) => call)).toEqual(calls);
      expect(library.status).toBe(calls.length === 0 ? 400 : 200);
    },
  );

  test("that is required and missing is a 400", async () => {
    const { status, error } = await get("/invoices/3/preview");
    expect([status, error]).toEqual([400, { param: "days", message: "This parameter is required." }]);
  });

  test("can't add another parameter to the upstream's query", async () => {
    const value = encodeURIComponent("en&admin=true#");
    expect((await get(`/invoices/3?expand[]=${value}`)).status).toBe(400);
    const library = await sendToLibrary(
      {
        edits: [
          {
            file: "pack.yaml",
            from: "  id: code\n",
            to: "  id: code\n  query: { parameters: { q: find } }\n",
          },
        ],
      },
      { method: "GET", path: `/old/books/7?q=${value}` },
    );
    expect(library.sent[0]?.call).toBe("GET /api/new/items/7?find=en%26admin%3Dtrue%23");
  });

  test("is sent with each upstream page of the client's page", async () => {
    const edits = [
      { file: "pack.yaml", from: "  id: code\n", to: "  id: code\n  query: { parameters: { q: find } }\n" },
      {
        file: "pack.yaml",
        from: "pagination: { page: { parameter: page }, size: 10 }",
        to: "pagination: { offset: { parameter: from }, size: 10 }",
      },
      { file: "pack.yaml", from: "maximum: 50", to: "maximum: 10" },
    ];
    const rows = Array.from({ length: 10 }, (_, id) => ({ id, cost: {} }));
    const { sent: calls } = await sendToLibrary(
      { edits },
      { method: "GET", path: "/old/books?from=5&q=sea" },
      () => [200, { rows, page: 1, last_page: 9, total: 90 }],
    );
    expect(calls.map(({ call }) => call)).toEqual([
      "GET /api/new/items?page=1&per_page=10&find=sea",
      "GET /api/new/items?page=2&per_page=10&find=sea",
    ]);
  });

  test("with a comma in a value is a 400 where the upstream separates values by commas", async () => {
    const edits = [
      {
        file: "pack.yaml",
        from: "  id: code\n",
        to: "  id: code\n  query: { parameters: { tag: { upstream: tags, multiple: repeat, upstream_multiple: comma } } }\n",
      },
    ];
    const send = (query: string) =>
      sendToLibrary({ edits }, { method: "GET", path: `/old/books/7?${query}` });
    expect((await send("tag=a&tag=b")).sent[0]?.call).toBe("GET /api/new/items/7?tags=a,b");
    expect(await send("tag=a,b")).toMatchObject({ status: 400, sent: [] });
  });

  test("is sent as it is where an expression makes one text of values that clients separate by commas", async () => {
    const write = '$join($value, ",") & ",z"';
    expect(await sendTag({ multiple: "comma", write }, "tag=a,b")).toEqual("tags=a,b,z");
  });

  test.each([
    ["a client", { multiple: "repeat", upstream_multiple: "comma" }],
    ["an expression that makes several", { multiple: "comma", write: '["a,b", "c"]' }],
  ])("with a comma in a value of %s is rejected, and the record says why", async (_whose, keys) => {
    expect(await sendTag(keys, "tag=a,b")).toEqual(
      'a value of "tag" has a comma, at which the upstream separates values',
    );
  });
});

/** The upstream's query for a parameter of the client, or the last warning about the request. */
async function sendTag(keys: object, query: string): Promise<string | undefined> {
  const routes = [
    {
      client: "GET /books/:id",
      upstream: "GET /items/{id}",
      query: { parameters: { tag: { upstream: "tags", ...keys } } },
    },
  ];
  const gateway = await startSmallGateway({ book: { routes } }, RECORDING);
  gateway.service.respondWith(json(200, {}));
  await gateway.send(`GET /books/7?${query}`);
  const [, sentQuery] = gateway.service.calls[0]?.path.split("?") ?? [];
  return sentQuery ?? (await gateway.readRecords())[0]?.warnings.at(-1);
}

describe("parameters that the pack does not name", () => {
  test("are rejected where the pack says so, all at once", async () => {
    const { status, errors } = await get("/invoices?color=red&size=7");
    const message = "This parameter is not known.";
    expect([status, errors]).toEqual([
      400,
      [
        { param: "color", message },
        { param: "size", message },
      ],
    ]);
  });

  test("are ignored where the pack says so, and the record has their names", async () => {
    const { status, sent: calls, ignored } = await get("/invoices/3/preview?days=1&color=red&size=7");
    expect([status, calls, ignored]).toEqual([
      200,
      ["GET /v2/invoices/3/drafts?final=false&dueHours=24&copy=false"],
      ["color", "size"],
    ]);
  });

  test("include a page where the response is an object", async () => {
    expect((await get("/invoices/3?page=2")).error).toEqual({
      param: "page",
      message: "This parameter is not known.",
    });
  });

  test("are not too many in the record", async () => {
    const names = Array.from({ length: 500 }, (_, index) => `n${index}`).join("&");
    const { ignored } = await get(`/invoices/3/preview?days=1&${names}`);
    expect(ignored).toHaveLength(20);
  });

  test("are a 400 if there are too many of them", async () => {
    const query = "a&".repeat(1001);
    expect((await get(`/invoices/3/preview?${query}`)).status).toBe(400);
  });
});

test("text of a query stays one value for every server", () =>
  expect(formatParameter("a b", "a b&c=d+e%é/1:2,3\u{D800}")).toBe(
    "a%20b=a%20b%26c%3Dd%2Be%25%C3%A9/1:2,3%EF%BF%BD",
  ));

describe("check reports a parameter", () => {
  const query = (text: string) => ({
    file: "pack.yaml",
    from: "  id: code\n",
    to: `  id: code\n  query: { parameters: { ${text} } }\n`,
  });
  const tokensInQuery = [
    { file: "pack.yaml", from: "credentials: { scheme: key }", to: "credentials: { query: key }" },
    { file: "pack.yaml", from: "credentials: { scheme: Token }", to: "credentials: { query: token }" },
  ];
  test.each([
    ["without an effect", "a: {}", 'a parameter needs "upstream", "path", "reject" or "ignore"'],
    ["with two effects", "a: { upstream: b, ignore: true }", "exclude each other"],
    [
      "with an unknown value kind",
      "a: { upstream: b, values: stat }",
      'unknown value kind "stat"; did you mean "state"?',
    ],
    ["with an unknown message", "a: { reject: gone }", 'unknown message "gone"'],
    ["with an invalid schema", "a: { upstream: b, schema: { type: int } }", "int"],
    [
      "with a default that its schema forbids",
      "a: { upstream: b, default: 7, schema: { maximum: 5 } }",
      "Must be at most 5.",
    ],
    [
      "with a default that is a single value for a list",
      "a: { upstream: b, default: x, multiple: comma }",
      "must be a list",
    ],
    ["with an expression that has an error", "a: { upstream: b, write: $valu }", "$valu"],
    [
      "with $values, which translates values of responses",
      "a: { upstream: b, write: \"$values('state', $value)\" }",
      "unknown variable or function $values",
    ],
    ["that asks for a page", "page: { upstream: b }", '"page" asks for a page'],
    ["that asks the upstream for a page", "a: per_page", '"per_page" asks the upstream for a page'],
    ["with the name of the token", "key: b", "has the client's token"],
    ["that is sent with the name of the token", "a: token", "has the upstream's token"],
    ["that is sent like another one", "a: b, c: b", 'the upstream gets the parameter "b" twice'],
  ])("%s", (_case, text, message) => {
    const faults = faultsOf(query(text), ...tokensInQuery);
    expect(faults[0]?.message).toContain(message);
  });

  test("of a route without an upstream call", () => {
    const faults = faultsOf({
      file: "shelf.yaml",
      from: "catalog: true, response: list }",
      to: "catalog: true, response: list, query: { parameters: { a: b } } }",
    });
    expect(faults.map(({ message }) => message)).toEqual(["has no effect: the route makes no upstream call"]);
  });
});
