/** Valid HTTP requests with errors: the client gets alpha's error, and v4 gets no request. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { request as httpRequest } from "node:http";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    ...RECORDING,
    BODY_LIMIT: "8kb",
    CORS_ORIGINS: "https://app.example.org",
  }),
);
beforeEach(() => {
  gateway.v4.respondWith((call, response) =>
    json(200, call.method === "GET" ? envelope([]) : { id: 7, label: "web-one" })(call, response),
  );
});

const GOOD = { datacenter: "newark", type: "g6-standard-1", label: "web-one" };

interface AlphaResponse {
  readonly status: number;
  readonly phrase: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** fetch takes no repeated headers, no odd paths and no odd methods; this does. */
function send(
  call: string,
  headers: Readonly<Record<string, string | string[]>> = { authorization: "token t" },
  body?: string | Buffer,
): Promise<AlphaResponse> {
  const [method, path] = call.split(/ (.*)/s, 2);
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          phrase: response.statusMessage ?? "",
          headers: response.headers,
          text: Buffer.concat(chunks).toString("utf8"),
        }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

const create = (
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<AlphaResponse> =>
  send(
    "POST /v4/vm/instances",
    { authorization: "token t", "content-type": "application/json", ...headers },
    body,
  );

const reasons = ({ text }: AlphaResponse): string[] =>
  JSON.parse(text).errors.map(({ field, reason }: { field?: string; reason: string }) =>
    field === undefined ? reason : `${field}: ${reason}`,
  );

/** The rules that hold for every alpha response under /v4. */
function expectAlpha(response: AlphaResponse): void {
  expect([200, 400, 401, 403, 404, 420, 500]).toContain(response.status);
  expect(response.headers["content-type"]).toBe("application/json");
  expect(() => JSON.parse(response.text)).not.toThrow();
  expect(response.headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  for (const name of ["limit", "remaining", "reset"])
    expect(response.headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
  expect(response.headers["vary"]).toMatch(/Authorization.*X-Filter/);
  expect(response.headers["x-powered-by"]).toBeUndefined();
  expect(response.headers["server"]).toBeUndefined();
  expect(response.text).not.toMatch(/\bat \w+ \(|node_modules|\.ts\b|Error:/);
}

describe("L-1 invalid bodies", () => {
  const deep = `{"label":${"[".repeat(40)}${"]".repeat(40)}}`;
  const abyss = "[".repeat(8000);
  const table: [string, string | Buffer, Record<string, string>, RegExp][] = [
    ["broken JSON", '{"label": "web', {}, /^The body is not valid JSON\.$/],
    ["trailing commas", '{"label": "web-one",}', {}, /^The body is not valid JSON\.$/],
    ["two JSONs", "{}{}", {}, /^The body is not valid JSON\.$/],
    ["NaN", '{"type": NaN}', {}, /^The body is not valid JSON\.$/],
    ["a byte order mark in UTF-16", Buffer.from("\ufeff{}", "utf16le"), {}, /^The body is not valid JSON\.$/],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), {}, /not valid JSON/],
    ["a NUL in a string", '{"label":"a\u0000b"}', {}, /not valid JSON/],
    ["an array", "[1]", {}, /^The body must be a JSON object\.$/],
    ["a string", '"web"', {}, /^The body must be a JSON object\.$/],
    ["a number", "7", {}, /^The body must be a JSON object\.$/],
    ["a number that no double holds", "12345678901234567890123", {}, /^The body must be a JSON object\.$/],
    ["true", "true", {}, /^The body must be a JSON object\.$/],
    ["40 levels", deep, {}, /^The body is nested too deeply\.$/],
    ["8000 levels without an end", abyss, {}, /^The body is nested too deeply\.$/],
    ["a form", "label=web", { "content-type": "application/x-www-form-urlencoded" }, /application\/json/],
    ["JSON called text", JSON.stringify(GOOD), { "content-type": "text/plain" }, /application\/json/],
    [
      "JSON called multipart",
      JSON.stringify(GOOD),
      { "content-type": "multipart/form-data; boundary=x" },
      /application\/json/,
    ],
    [
      "JSON called XML",
      JSON.stringify(GOOD),
      { "content-type": "application/json+xml" },
      /application\/json/,
    ],
    ["JSON called nothing", JSON.stringify(GOOD), { "content-type": "/" }, /application\/json/],
    [
      "another charset",
      JSON.stringify(GOOD),
      { "content-type": "application/json; charset=utf-16" },
      /UTF-8/,
    ],
    [
      "another charset, quoted",
      JSON.stringify(GOOD),
      { "content-type": 'application/json;charset="latin1"' },
      /UTF-8/,
    ],
    ["an unknown coding", JSON.stringify(GOOD), { "content-encoding": "rot13" }, /Content-Encoding/],
    ["three codings", JSON.stringify(GOOD), { "content-encoding": "gzip, gzip, gzip" }, /Content-Encoding/],
    ["invalid gzip data", JSON.stringify(GOOD), { "content-encoding": "gzip" }, /could not be read/],
    [
      "half a gzip",
      gzipSync(JSON.stringify(GOOD)).subarray(0, 20),
      { "content-encoding": "gzip" },
      /could not be read/,
    ],
    [
      "a gzip bomb",
      gzipSync(Buffer.alloc(4_000_000, 32)),
      { "content-encoding": "gzip" },
      /^The body is too large\.$/,
    ],
    [
      "a brotli bomb",
      brotliCompressSync(Buffer.alloc(40_000_000, 32)),
      { "content-encoding": "br" },
      /^The body is too large\.$/,
    ],
    ["one byte above the limit", Buffer.alloc(8193, 32), {}, /^The body is too large\.$/],
  ];
  test.each(table)("A-168 %s", async (_name, body, headers, reason) => {
    const response = await create(body, headers);
    expectAlpha(response);
    expect(response.status).toBe(400);
    expect(reasons(response)).toEqual([expect.stringMatching(reason)]);
    expect(gateway.v4.calls).toEqual([]);
  });

  test.each([
    ["a number for a name", { ...GOOD, label: 7 }, "label"],
    ["an object for a name", { ...GOOD, label: { a: 1 } }, "label"],
    ["a list for a place", { ...GOOD, datacenter: ["newark"] }, "datacenter"],
    ["null for a place", { ...GOOD, datacenter: null }, "datacenter"],
    ["a number above 2^53 for a name", { ...GOOD, label: 2 ** 60 }, "label"],
    ["a word for a switch", { ...GOOD, with_backup: "maybe" }, "with_backup"],
    ["a datacenter that does not exist", { ...GOOD, datacenter: "__proto__" }, "datacenter"],
    ["a place that every object has", { ...GOOD, datacenter: "constructor" }, "datacenter"],
    ["a type that every object has", { ...GOOD, type: "toString" }, "type"],
  ])("A-168 wrong types: %s", async (_name, body, field) => {
    const response = await create(JSON.stringify(body));
    expectAlpha(response);
    expect(response.status).toBe(400);
    expect(reasons(response)).toEqual([expect.stringMatching(new RegExp(`^${field}: `))]);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("T-2.3 null counts as no body, and missing members are reported", async () => {
    const response = await create("null");
    expect(response.status).toBe(400);
    expect(reasons(response).map((line) => line.split(":")[0])).toEqual(["datacenter", "type"]);
  });

  test("an integer too long for a double does not stop the validation", async () => {
    const response = await create(
      `{"datacenter":"newark","type":"g6-standard-1","backup":${"9".repeat(400)}}`,
    );
    expectAlpha(response);
    expect([400, 500]).toContain(response.status);
  });
});

describe("accepted bodies", () => {
  const text = JSON.stringify(GOOD);
  test.each<[string, string | Buffer, Record<string, string>]>([
    ["L-4 JSON in capitals", text, { "content-type": "APPLICATION/JSON" }],
    ["L-4 JSON with a charset", text, { "content-type": "application/json; charset=UTF-8" }],
    ["L-4 JSON with a quoted charset", text, { "content-type": 'application/json; charset="utf-8"' }],
    ["L-4 a JSON of its own", text, { "content-type": "application/vnd.alpha+json" }],
    ["JSON after a byte order mark", `\ufeff${text}`, {}],
    ["L-2 gzip", gzipSync(text), { "content-encoding": "gzip" }],
    ["L-2 deflate", deflateSync(text), { "content-encoding": "deflate" }],
    ["L-2 br", brotliCompressSync(text), { "content-encoding": "br" }],
    ["L-2 zstd", zstdCompressSync(text), { "content-encoding": "zstd" }],
  ])("%s", async (_name, body, headers) => {
    const response = await create(body, headers);
    expectAlpha(response);
    expect(response).toMatchObject({ status: 200 });
    expect(gateway.v4.calls[0]?.json()).toMatchObject({
      region: "us-east",
      type: "g6-standard-1",
      label: "web-one",
    });
    expect(gateway.v4.calls[0]?.headers["content-encoding"]).toBeUndefined();
  });

  test("R-10 without a Content-Type", async () => {
    expect(await send("POST /v4/vm/instances", { authorization: "token t" }, text)).toMatchObject({
      status: 200,
    });
  });

  test("L-5 T-2.4 unknown members, also __proto__, are not sent to v4", async () => {
    const body = `{"__proto__":{"root_pass":"x","label":"evil"},"constructor":{"prototype":{"p":1}},"region":"eu-west","booted":true,${text.slice(1)}`;
    expect(await create(body)).toMatchObject({ status: 200 });
    const [call] = gateway.v4.calls;
    expect(call?.received().toString()).not.toMatch(/__proto__|constructor|evil|eu-west|root_pass/);
    expect(call?.json()).toMatchObject({ region: "us-east", booted: false });
    expect(({} as Record<string, unknown>)["p"]).toBeUndefined();
  });

  test("L-5 numbers that no double can represent reach v4 digit for digit", async () => {
    gateway.v4.respondWith(
      json(200, { id: 5, images: ["vm/debian9"], user_defined_fields: [] }),
      json(200, { id: 7 }),
    );
    const deployed = '"distribution":"vm/debian9","root_pass":"a-good-pass","stackscript":5';
    const responses =
      '"stackscript_udf_responses":{"big":90071992547409931234,"long":0.12345678901234567890123}';
    expect(await create(`{${deployed},${responses},${text.slice(1)}`)).toMatchObject({ status: 200 });
    const sent = gateway.v4.calls.at(-1)?.received().toString();
    expect(sent).toMatch(/"big":90071992547409931234,"long":0\.12345678901234567890123[,}]/);
  });

  test("only the last of two members with one name is sent", async () => {
    expect(await create(`{"label":"first",${text.slice(1)}`)).toMatchObject({ status: 200 });
    expect(gateway.v4.calls[0]?.received().toString().match(/label/g)).toHaveLength(1);
  });
});

describe("L-16 path traversal", () => {
  test.each([
    ["/v4/vm/instances/%zz", 400],
    ["/v4/vm/instances/%", 400],
    ["/v4/vm/instances/%c3", 400],
    ["/v4/vm/instances/%ff%fe", 400],
    ["/v4/vm/instances/%00", 404],
    ["/v4/vm/instances/7%00", 404],
    ["/v4/vm/instances/7%0d%0aX:1", 404],
    ["/v4/vm/instances/7%2fdisks", 404],
    ["/v4/vm/instances/..", 404],
    ["/v4/vm/instances/%2e%2e", 404],
    ["/v4/vm/instances/7/../8", 404],
    ["/v4/vm/instances/7/disks/..%2f..%2f8", 404],
    ["/v4/vm/instances/-1", 404],
    ["/v4/vm/instances/07", 404],
    ["/v4/vm/instances/1e3", 404],
    ["/v4/vm/instances/%D9%A7", 404],
    ["/v4/vm/instances/99999999999999999999", 404],
    ["/v4/vm/instances/7;x=1", 404],
    ["/v4/vm/instances/7\\..\\8", 404],
    ["/v4/account/../vm/instances", 404],
    ["/V4/vm/instances", 404],
    ["/v4", 404],
    ["/", 404],
    ["*", 404],
    ["/../v4/vm/instances", 404],
    ["/v4/regions", 404],
    ["/v4/vm/distributions/private%2f7", 404],
    ["/v4/vm/distributions/..%2f..%2faccount", 404],
    ["/v4/vm/distributions/vm/__proto__", 404],
    ["/v4/datacenters/__proto__", 404],
    ["/v4/datacenters/constructor", 404],
    [`/v4/vm/instances/${"7".repeat(8000)}`, 404],
    [`/v4/${"a/".repeat(5000)}`, 404],
  ])("A-171 GET %.60s gets %i", async (path, status) => {
    const response = await send(`GET ${path}`);
    expectAlpha(response);
    expect(response.status).toBe(status);
    expect(reasons(response)).toHaveLength(1);
    expect(gateway.v4.calls).toEqual([]);
  });

  test.each(["PATCH", "TRACE", "OPTIONS", "PROPFIND", "DELETE", "PUT", "QUERY"])(
    "rejects a method that the path does not have: %s",
    async (method) => {
      const response = await send(`${method} /v4/vm/instances`);
      expectAlpha(response);
      expect(response.status).toBe(404);
      expect(gateway.v4.calls).toEqual([]);
    },
  );

  test.each(["page=%00", "page=9999999999", "page=%zz"])("A-017 rejects ?%s", async (query) => {
    const response = await send(`GET /v4/vm/instances?${query}`);
    expectAlpha(response);
    expect(response.status).toBe(400);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("T-2.2 query parameters that alpha does not have are not sent to v4", async () => {
    await send("GET /v4/vm/instances?page_size=500&page=2&x=%0d%0aX-Evil:1&..");
    expect(gateway.v4.calls[0]?.path).toBe("/v4/vm/instances?page=2&page_size=25");
  });
});

describe("credentials", () => {
  const table: [string, string | string[]][] = [
    ["two Authorization headers", ["token a", "token b"]],
    ["two equal ones", ["token a", "token a"]],
    ["an alpha and a native one", ["token a", "Bearer b"]],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["no scheme", "abcdef"],
    ["a scheme without a token", "token"],
    ["a Bearer without a token", "Bearer"],
    ["a token with a space", "token a b"],
    ["a token in latin-1", "token a\u00e9"],
    ["a token of 5000 characters", `token ${"a".repeat(5000)}`],
    ["parameters", 'token realm="x", y="z"'],
  ];
  test.each(table)("A-169 %s gets 401 without a v4 request", async (_name, authorization) => {
    const response = await send("GET /v4/vm/instances", { authorization });
    expectAlpha(response);
    expect(response.status).toBe(401);
    expect(gateway.v4.calls).toEqual([]);
  });

  test.each([
    ["none", {}],
    ["an empty one", { authorization: "" }],
  ])("A-169 %s gets 401", async (_name, headers) => {
    expect(await send("GET /v4/vm/instances", headers)).toMatchObject({ status: 401 });
  });

  test.each(["token abc", "TOKEN abc", "Token   abc", "token abc  "])(
    "L-15 %j is an alpha scheme",
    async (authorization) => {
      expect(await send("GET /v4/vm/instances", { authorization })).toMatchObject({ status: 200 });
      expect(gateway.v4.calls[0]?.headers.authorization).toBe("Bearer abc");
    },
  );

  test("a token with unusual characters is sent unchanged", async () => {
    const token = "!#$%&'*+-./:;<=>?@[]^_`{|}~\"\\,()";
    await send("GET /v4/vm/instances", { authorization: `token ${token}` });
    expect(gateway.v4.calls[0]?.headers.authorization).toBe(`Bearer ${token}`);
  });
});

describe("L-19 invalid filters", () => {
  const filtered = (filter: string | string[]): Promise<AlphaResponse> =>
    send("GET /v4/vm/instances", { authorization: "token t", "x-filter": filter });
  const nested = (levels: number): string =>
    `${'{"+and":['.repeat(levels)}{"label":"a"}${"]}".repeat(levels)}`;

  test.each<[string, string | string[]]>([
    ["two lines", ['{"label":"a"}', '{"label":"b"}']],
    ["9 KB", JSON.stringify({ label: "a".repeat(9000) })],
    ["11 groups deep", nested(11)],
    ["1000 groups deep", nested(1000 / 2)],
    ["too many conditions", JSON.stringify({ "+or": Array.from({ length: 300 }, () => ({ id: 1 })) })],
    ["an unknown field", '{"root_pass":"x"}'],
    ["__proto__", '{"__proto__":{"label":"a"}}'],
    ["constructor", '{"constructor":"a"}'],
    ["an unknown operator", '{"label":{"+eval":"1"}}'],
    ["bytes that are not UTF-8", '{"label":"\u00ff'],
  ])("%s gets 400 without a field and without a v4 request", async (_name, filter) => {
    const response = await filtered(filter);
    expectAlpha(response);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text).errors).toEqual([{ reason: expect.any(String) }]);
    expect(gateway.v4.calls).toEqual([]);
  });

  test.each([
    ["UTF-8 bytes", Buffer.from('{"label":"caf\u00e9\u{1f600}"}').toString("latin1")],
    ["escapes", String.raw`{"label":"caf\u00e9\ud83d\ude00"}`],
  ])("L-18 non-ASCII text, sent as %s, is forwarded in ASCII", async (_name, filter) => {
    expect(await filtered(filter)).toMatchObject({ status: 200 });
    const sent = gateway.v4.calls[0]?.headers["x-filter"];
    expect(sent).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(String(sent))).toEqual({ label: "caf\u00e9\u{1f600}" });
  });

  test("L-5 a number that no double can represent is forwarded digit for digit, or rejected", async () => {
    const { status } = await filtered('{"id":90071992547409931234}');
    const sent = gateway.v4.calls.map(({ headers }) => headers["x-filter"]);
    expect([200, 400]).toContain(status);
    expect(sent).toEqual(status === 200 ? ['{"id":90071992547409931234}'] : []);
  });

  test("L-18 no value of a filter creates another header line", async () => {
    await filtered(String.raw`{"label":"a\r\nX-Evil: 1\u0000"}`);
    expect(gateway.v4.calls[0]?.headers["x-evil"]).toBeUndefined();
    expect(gateway.v4.calls[0]?.headers["x-filter"]).toMatch(/^[\x20-\x7e]+$/);
  });
});

describe("L-17 headers of translated requests", () => {
  const asked = (headers: Record<string, string>): Promise<AlphaResponse> =>
    send("GET /v4/vm/instances", { authorization: "token t", ...headers });

  test("T-2.7 v4 receives the gateway's headers and none of the client's", async () => {
    await asked({
      cookie: "session=1",
      connection: "close, authorization, x-request-id, x-custom",
      "proxy-authorization": "Basic x",
      te: "trailers",
      "x-custom": "1",
      "x-forwarded-for": "10.0.0.1",
      "x-http-method-override": "DELETE",
      "accept-encoding": "gzip",
      accept: "text/html",
      host: "evil.example.org",
      "user-agent": "agent/1",
      "if-none-match": "*",
      range: "bytes=0-1",
    });
    const [call] = gateway.v4.calls;
    const { host, traceparent, "x-request-id": id, ...rest } = call?.headers ?? {};
    expect(rest).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: "Bearer t",
      connection: "keep-alive",
      "user-agent": "agent/1",
    });
    expect(host).toBe(new URL(gateway.v4.url).host);
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("a user agent in latin-1 causes no error", async () => {
    const response = await asked({ "user-agent": "agent/\u00e9\t1" });
    expectAlpha(response);
    expect(response.status).toBe(200);
  });

  test.each(["abc", "A.b_c-1", "x".repeat(128)])("X-Request-Id %.20s is accepted", async (id) => {
    expect((await asked({ "x-request-id": id })).headers["x-request-id"]).toBe(id);
    expect(gateway.v4.calls[0]?.headers["x-request-id"]).toBe(id);
  });

  test.each(["", " ", "a b", "x".repeat(129), "a;b", "a\u00e9", "<script>", "../x"])(
    "X-Request-Id %.20j is replaced",
    async (id) => {
      const requestId = (await asked({ "x-request-id": id })).headers["x-request-id"];
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
      expect(gateway.v4.calls[0]?.headers["x-request-id"]).toBe(requestId);
    },
  );

  const trace = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  test.each([
    [trace, true],
    [trace.toUpperCase(), false],
    [`ff${trace.slice(2)}`, false],
    [`00-${"0".repeat(32)}-${"b".repeat(16)}-01`, false],
    [`00-${"a".repeat(32)}-${"0".repeat(16)}-01`, false],
    [`${trace}-more`, false],
    ["", false],
  ])("traceparent %j is forwarded: %s", async (given, kept) => {
    await asked({ traceparent: given });
    const sent = gateway.v4.calls[0]?.headers.traceparent;
    expect(sent === given).toBe(kept);
    expect(sent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
  });

  test("R-11 X-CORS-Status: true gives status 200, with the real one in X-Status", async () => {
    const headers = { authorization: "token t", "x-cors-status": "TRUE" };
    expect(await send("GET /v4/nothing", headers)).toMatchObject({
      status: 200,
      phrase: "OK",
      headers: { "x-status": "404" },
    });
    const other = await send("GET /v4/nothing", { ...headers, "x-cors-status": "yes" });
    expect(other.status).toBe(404);
    expect(other.headers["x-status"]).toBeUndefined();
  });
});

describe("browser clients", () => {
  const preflight = { origin: "https://app.example.org", "access-control-request-method": "PUT" };

  test("a preflight of an allowed origin gets 204 without a v4 request", async () => {
    expect(await send("OPTIONS /v4/vm/instances", preflight)).toMatchObject({
      status: 204,
      text: "",
      headers: {
        "access-control-allow-origin": "https://app.example.org",
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": expect.stringContaining("X-Filter"),
      },
    });
    expect(gateway.v4.calls).toEqual([]);
  });

  test.each([
    "https://evil.example.org",
    "null",
    "https://app.example.org.evil.org",
    "http://app.example.org",
  ])("the origin %s is not allowed", async (origin) => {
    const response = await send("OPTIONS /v4/vm/instances", { ...preflight, origin });
    expect(response.status).toBe(204);
    expect(Object.keys(response.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    const get = await send("GET /v4/vm/instances", { authorization: "token t", origin });
    expect(get.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("an error is readable by a page too", async () => {
    const response = await send("GET /v4/vm/instances", { origin: "https://app.example.org" });
    expect(response).toMatchObject({
      status: 401,
      headers: {
        "access-control-allow-origin": "https://app.example.org",
        vary: expect.stringContaining("Origin"),
      },
    });
  });
});

describe("values that would change the path of a v4 request", () => {
  test.each([".", "..", "", "x/../../profile", "a\u0000b"])(
    "an address %j in a body is not requested from v4",
    async (address) => {
      await send(
        "POST /v4/networking/ip-assign",
        { authorization: "token t", "content-type": "application/json" },
        JSON.stringify({ datacenter: "newark", assignments: [{ address, vm_id: 7 }] }),
      );
      expect(gateway.v4.calls.map(({ method }) => method).filter((method) => method === "GET")).toEqual([]);
    },
  );

  test.each([{}, { vm_id: null }, { vm_id: ".." }, { vm_id: {} }])(
    "DELETE of an address is rejected with a reason if v4's object has %j",
    async (v4) => {
      gateway.v4.respondWith(json(200, { address: "192.0.2.7", ...v4 }));
      const response = await send("DELETE /v4/networking/ipv4/192.0.2.7");
      expect([response.status, reasons(response)]).toEqual([400, ["The address belongs to no instance."]]);
      expect(gateway.v4.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /v4/networking/ips/192.0.2.7",
      ]);
    },
  );
});

describe("request targets that Express cannot route", () => {
  test.each(["http://[::1", "http://a:b:c/v4/vm/instances", "//[", "http://[::1/v4/vm/instances"])(
    "%s gets 404, is rate limited and recorded",
    async (target) => {
      const response = await send(`GET ${target}`);
      expect(response.status).toBe(404);
      expectAlpha(response);
      expect(await gateway.readLastRecord()).toMatchObject({ alpha: { path: target, status: 404 } });
    },
  );
});
