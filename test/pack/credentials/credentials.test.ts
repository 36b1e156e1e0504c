/** Where clients have their token, where the upstream gets one, and which. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { SettingsError } from "../../../src/base/settings/settings.ts";
import { credentialScheme } from "../../../src/pack/credentials/credentials.ts";
import { json } from "../../support/fake-v4.ts";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { takesNoLonger } from "../../support/growth.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

const TOKEN = "k_live-0123456789";
const OTHER = "k_live-9876543210";
const UPSTREAM = "u_secret-abcdef-42";

let gateway: SmallGateway;

async function start(client: object | undefined, upstream: object | undefined, settings: TestSettings = {}) {
  gateway = await startSmallGateway(
    {
      client: client ? { credentials: client } : {},
      upstream: { base_path: "/api", ...(upstream && { credentials: upstream }) },
    },
    settings,
  );
  gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
  return gateway;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const header = (name: string, value: string) => ({ path: "", headers: { [name]: value } });

/** A side's credentials, and a request that has the token there. */
const PLACES = [
  ["any scheme", { scheme: "Key" }, header("authorization", `Key ${TOKEN}`)],
  [
    "a parameter of a scheme",
    { scheme: "Token", parameter: "token" },
    header("authorization", `Token token="${TOKEN}"`),
  ],
  ["the bare header", { header: "Authorization" }, header("authorization", TOKEN)],
  ["any header", { header: "X-Api-Key" }, header("x-api-key", TOKEN)],
  ["Basic, user name", { basic: "username" }, header("authorization", `Basic ${base64(`${TOKEN}:`)}`)],
  ["Basic, password", { basic: "password" }, header("authorization", `Basic ${base64(`:${TOKEN}`)}`)],
  ["a cookie", { cookie: "session" }, header("cookie", `session=${TOKEN}`)],
  ["the query", { query: "api_key" }, { path: `?api_key=${TOKEN}`, headers: {} }],
] as const;

describe("the client's token is read from", () => {
  test.each(PLACES)("%s", async (_place, credentials, { path, headers }) => {
    const { send, service, lastRecord } = await start(credentials, { scheme: "Bearer" }, RECORDING);
    const { status, body } = await send(`GET /books/7${path}`, { headers });
    expect([status, body]).toEqual([200, { id: 7, title: "Waves" }]);
    const [call] = service.calls;
    expect([call?.path, call?.headers.authorization]).toEqual(["/api/items/7", `Bearer ${TOKEN}`]);
    const others = { ...call?.headers, authorization: "" };
    expect(JSON.stringify(others)).not.toContain(TOKEN);
    expect(await lastRecord()).not.toContain(TOKEN);
    expect((await send("GET /books/7")).status).toBe(401);
  });
});

describe("of several places, the first in which a request has a token", () => {
  const KEYS = { header: "X-Api-Key", or: [{ basic: "username" }, { scheme: "Key" }, { query: "api_key" }] };
  const user = (token: string) => `Basic ${base64(`${token}:`)}`;

  test.each([
    ["the first one", { "x-api-key": TOKEN }, "", 200],
    ["the second one", { authorization: user(TOKEN) }, "", 200],
    ["another scheme of the same header", { authorization: `Key ${TOKEN}` }, "", 200],
    ["the query", {}, `?api_key=${TOKEN}`, 200],
    ["the first of two", { "x-api-key": TOKEN, authorization: user(OTHER) }, "", 200],
    ["an empty one, and another", { "x-api-key": "", authorization: user(TOKEN) }, "", 200],
    ["none", {}, "", 401],
    ["a scheme that is none of them", { authorization: `Other ${TOKEN}` }, "", 401],
    ["one that is malformed before a good one", { "x-api-key": "a b", authorization: user(TOKEN) }, "", 401],
  ])("counts: %s", async (_what, headers, query, status) => {
    const { send, service, lastRecord } = await start(KEYS, { scheme: "Bearer" }, RECORDING);
    expect((await send(`GET /books/7${query}`, { headers })).status).toBe(status);
    expect(service.calls.map((call) => call.headers.authorization)).toEqual(
      status === 200 ? [`Bearer ${TOKEN}`] : [],
    );
    const record = await lastRecord();
    for (const secret of [TOKEN, OTHER, base64(`${TOKEN}:`), base64(`${OTHER}:`)])
      expect(record).not.toContain(secret);
  });

  test("is what responses vary by, and none of them is forwarded without translation", async () => {
    const { send, service } = await start(
      { header: "X-Api-Key", or: [{ basic: "username" }] },
      { scheme: "Bearer" },
    );
    const { headers } = await send("GET /books/7", { headers: { "x-api-key": TOKEN } });
    expect(headers.get("vary")).toBe("X-Api-Key, Authorization");
    expect((await send("GET /api/items/7", { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(
      401,
    );
    expect(service.calls).toHaveLength(1);
  });

  test("has the challenge of its scheme", async () => {
    const { send } = await start(
      { header: "X-Api-Key", realm: "books", or: [{ basic: "username" }] },
      { scheme: "Bearer" },
    );
    expect((await send("GET /books/7")).headers.get("www-authenticate")).toBe('Basic realm="books"');
  });
});

describe("the upstream gets the client's token in", () => {
  test.each(PLACES)("%s", async (_place, credentials, { path, headers }) => {
    const { send, service, lastRecord } = await start({ scheme: "Bearer" }, credentials, RECORDING);
    // An upstream that echoes the request must not put the token into the record.
    service.respondWith((call, response) =>
      json(200, { id: 7, name: `${call.path} ${JSON.stringify(call.headers)}` })(call, response),
    );
    const { status } = await send("GET /books/7", { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(status).toBe(200);
    const [call] = service.calls;
    expect(call?.path).toBe(`/api/items/7${path}`);
    expect(call?.headers).toMatchObject(headers);
    const record = await lastRecord();
    expect(record).toContain("/api/items/7");
    for (const secret of [TOKEN, base64(`${TOKEN}:`), base64(`:${TOKEN}`)])
      expect(record).not.toContain(secret);
  });
});

describe("a parameter of a scheme", () => {
  test.each([
    ["among others", `Token nonce="a, token=b", token="${TOKEN}"`, 200],
    ["without quotes, in any case", `token Token=${TOKEN}; realm=x`, 200],
    ["with escapes", `Token token="${TOKEN.slice(0, 3)}\\${TOKEN.slice(3)}"`, 200],
    ["that is there twice", `Token token="${TOKEN}", token="${TOKEN}"`, 401],
    ["that is missing", `Token nonce="${TOKEN}"`, 401],
    ["behind a text that is none", `Token "${TOKEN}", token="${TOKEN}"`, 401],
    ["of another scheme", `Key token="${TOKEN}"`, 401],
    ["that never ends", `Token token="${TOKEN}`, 401],
  ])("%s", async (_case, authorization, status) => {
    const { send, lastRecord } = await start(
      { scheme: "Token", parameter: "token" },
      { scheme: "Bearer" },
      RECORDING,
    );
    expect((await send("GET /books/7", { headers: { authorization } })).status).toBe(status);
    expect(await lastRecord()).not.toContain(TOKEN);
  });
});

describe("credentials that are not one valid token are a 401 in the client's error shape", () => {
  test.each([
    [
      "several words in a header",
      { header: "X-Api-Key" },
      "",
      { "x-api-key": "a, b" },
      "The X-Api-Key header is malformed.",
    ],
    ["two parameters", { query: "key" }, "?key=aaa&k%65y=bbb", {}, "There is more than one parameter key."],
    ["two cookies", { cookie: "s" }, "", { cookie: "s=a; s=b" }, "There is more than one cookie s."],
    [
      "Basic without a colon",
      { basic: "username" },
      "",
      { authorization: `Basic ${base64(TOKEN)}` },
      "The Authorization header is malformed.",
    ],
    [
      "another scheme",
      { basic: "username" },
      "",
      { authorization: `Bearer ${TOKEN}` },
      "The Authorization header is malformed.",
    ],
  ])("%s", async (_case, credentials, query, headers, message) => {
    const { send, service } = await start(credentials, { header: "X-Key" });
    const { status, body } = await send(`GET /books/7${query}`, { headers });
    expect([status, body]).toEqual([401, { message }]);
    expect(service.calls).toEqual([]);
  });

  test.each([
    ["a second cookie", { header: "X-Key" }, { "x-key": "abc;admin=1" }, { cookie: "s" }],
    ["a user and a password", { header: "X-Key" }, { "x-key": "admin:root" }, { basic: "username" }],
  ])("a token that would become %s", async (_what, client, headers, upstream) => {
    const { send, service } = await start(client, upstream);
    const { status, body } = await send("GET /books/7", { headers });
    expect([status, body]).toEqual([401, { message: "The access token is not valid." }]);
    expect(service.calls).toEqual([]);
  });
});

describe("a challenge of a 401", () => {
  test.each([
    ["Basic", { basic: "both", realm: "shop" }, 'Basic realm="shop"'],
    ["any scheme", { scheme: "Key", realm: "old shop" }, 'Key realm="old shop"'],
    ["no realm", { scheme: "Key" }, null],
  ])("with %s", async (_what, client, challenge) => {
    const { send, service } = await start(client, { header: "X-Key" });
    const challengeOf = async (headers: Record<string, string>) => {
      const response = await send("GET /books/7", { headers });
      return [response.status, response.headers.get("www-authenticate")];
    };
    expect(await challengeOf({})).toEqual([401, challenge]);
    expect(await challengeOf({ authorization: "Other abc" })).toEqual([401, challenge]);
    const authorization = "basic" in client ? `Basic ${base64(`u:${TOKEN}`)}` : `Key ${TOKEN}`;
    service.respondWith(json(403, {}));
    expect(await challengeOf({ authorization })).toEqual([403, null]);
    service.respondWith(json(401, {}, { "www-authenticate": "Bearer realm=upstream" }));
    expect(await challengeOf({ authorization })).toEqual([401, challenge]);
  });
});

describe("a token in the query", () => {
  test("is in no record, however its name is spelt, and other parameters are", async () => {
    const { send, lastRecord } = await start({ query: "api_key" }, { scheme: "Bearer" }, RECORDING);
    expect((await send(`GET /books/7?a=1&%61pi_key=${TOKEN}&b=2`)).status).toBe(200);
    const record = await lastRecord();
    expect(record).toContain('"query":"a=1&b=2"');
    expect(record).not.toContain(TOKEN);
  });

  test("is in no record of a request that is rejected", async () => {
    const { send, lastRecord } = await start({ query: "api_key" }, { scheme: "Bearer" }, RECORDING);
    expect((await send(`GET /none?api_key=${TOKEN}&api_key=${OTHER}`)).status).toBe(401);
    const record = await lastRecord();
    expect(record).toContain('"status":401');
    expect(record).not.toContain(TOKEN);
    expect(record).not.toContain(OTHER);
  });
});

describe("a token in the wrong place is in no record", () => {
  test.each([
    ["after two question marks", "/7??api_key=K"],
    ["in another case", "/7?API_KEY=K"],
    ["without the underscore", "/7?apikey=K"],
    ["in a list", "/7?api_key[]=K"],
    ["after a semicolon", "/7?x=1;api_key=K"],
    ["with a null byte", "/7?api_key%00=K"],
    ["under the name at the upstream", "/7?X-Upstream-Key=K"],
    ["as a header in the query", "/7?Authorization=Basic%20K"],
    ["in the path after an ampersand", "/7&api_key=K"],
    ["in the path after a semicolon", "/7;api_key=K"],
    ["in the path after an escaped question mark", "/7%3Fapi_key=K"],
    ["after an escaped hash sign", "/7?a=%23api_key=K"],
    ["after an escaped question mark", "/7?%3Fapi_key=K"],
  ])("%s", async (_place, path) => {
    const { send, lastRecord } = await start({ query: "api_key" }, { header: "X-Upstream-Key" }, RECORDING);
    expect((await send(`GET /books${path.replace(/K$/, TOKEN)}`)).status).toBe(401);
    const record = await lastRecord();
    expect(record).toContain('"status":401');
    expect(record).not.toContain(TOKEN);
  });

  test("as one part of Basic credentials", async () => {
    const { send, lastRecord } = await start({ basic: "both" }, { query: "token" }, RECORDING);
    const authorization = `Basic ${base64(`shop-reader:${TOKEN}`)}`;
    expect((await send(`GET /books/${TOKEN}`, { headers: { authorization } })).status).toBe(200);
    const record = await lastRecord();
    expect(record).toContain('"route":"GET /books/:id"');
    expect(record).not.toContain(TOKEN);
  });

  test("as the upstream's token in a response", async () => {
    const { send, service, lastRecord } = await start({ query: "api_key" }, { basic: "both" }, RECORDING);
    service.respondWith(json(200, { id: 7, name: `for ${OTHER}` }));
    expect((await send(`GET /books/7?api_key=shop:${OTHER}`)).status).toBe(200);
    expect(await lastRecord()).not.toContain(OTHER);
  });
});

test("many spaces after a scheme take about as long as those without a scheme", () => {
  const spaces = `${" ".repeat(1 << 14)}\u00e9`;
  const readScheme = (): unknown => credentialScheme(`x${spaces}`);
  expect(takesNoLonger(readScheme, () => credentialScheme(spaces))).toBe(true);
});

test("a question mark at the start of a query is a part of the first name", async () => {
  const { send, service } = await start({ query: "api_key" }, { header: "X-Upstream-Key" });
  expect((await send(`GET /books/7??api_key=${OTHER}&api_key=${TOKEN}`)).status).toBe(200);
  expect(service.calls[0]?.headers["x-upstream-key"]).toBe(TOKEN);
  expect(JSON.stringify(service.calls)).not.toContain(OTHER);
});

describe("a fixed token for the upstream", () => {
  const fixed = { scheme: "Bearer", token: "setting" };

  test("is sent for clients without credentials", async () => {
    const { send, service, lastRecord } = await start(undefined, fixed, {
      ...RECORDING,
      UPSTREAM_TOKEN: UPSTREAM,
    });
    expect((await send("GET /books/7")).status).toBe(200);
    expect(service.calls[0]?.headers.authorization).toBe(`Bearer ${UPSTREAM}`);
    expect(await lastRecord()).not.toContain(UPSTREAM);
  });

  test("is only sent for known clients", async () => {
    const { send, service } = await start({ header: "X-Api-Key" }, fixed, {
      UPSTREAM_TOKEN: UPSTREAM,
      CLIENT_TOKENS: `${TOKEN}, ${OTHER}`,
    });
    for (const token of [TOKEN, OTHER])
      expect((await send("GET /books/7", { headers: { "x-api-key": token } })).status).toBe(200);
    expect(service.calls.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${UPSTREAM}`,
      `Bearer ${UPSTREAM}`,
    ]);
    const { status, body } = await send("GET /books/7", { headers: { "x-api-key": UPSTREAM } });
    expect([status, body]).toEqual([401, { message: "The access token is not valid." }]);
    expect((await send("GET /books/7")).status).toBe(401);
    expect(service.calls).toHaveLength(2);
  });

  test("is a failure of the gateway where the upstream rejects it, and no fault of the client's token", async () => {
    const { send, service, lastRecord } = await start({ header: "X-Api-Key" }, fixed, {
      ...RECORDING,
      UPSTREAM_TOKEN: UPSTREAM,
      CLIENT_TOKENS: TOKEN,
    });
    service.respondWith(json(401, {}), json(200, { id: 7, name: "Waves" }));
    const headers = { "x-api-key": TOKEN };
    expect((await send("GET /books/7", { headers })).status).toBe(500);
    expect(await lastRecord()).toContain("upstream rejects the token of UPSTREAM_TOKEN");
    expect((await send("GET /books/7", { headers })).status).toBe(200);
  });

  test.each([
    ["the token", undefined, {}, "UPSTREAM_TOKEN is missing"],
    [
      "the clients' tokens",
      { header: "X-Api-Key" },
      { UPSTREAM_TOKEN: UPSTREAM },
      "CLIENT_TOKENS is missing",
    ],
    ["a sendable token", undefined, { UPSTREAM_TOKEN: "a b" }, "UPSTREAM_TOKEN: a token contains characters"],
  ])("needs %s at start", async (_what, client, settings, problem) => {
    const started = start(client, fixed, settings);
    await expect(started).rejects.toThrow(SettingsError);
    await expect(started).rejects.toThrow(problem);
  });
});

test.each<[string, object | undefined, object, Record<string, string>, string]>([
  [
    "CLIENT_TOKENS",
    { header: "X-Api-Key" },
    { scheme: "Bearer" },
    { CLIENT_TOKENS: TOKEN },
    "token: setting",
  ],
  [
    "UPSTREAM_TOKEN",
    { header: "X-Api-Key" },
    { scheme: "Bearer" },
    { UPSTREAM_TOKEN: TOKEN },
    "token: setting",
  ],
  [
    "UPSTREAM_TOKENS_FILE",
    { header: "X-Api-Key" },
    { scheme: "Bearer" },
    { UPSTREAM_TOKENS_FILE: "tokens.yaml" },
    "token: table",
  ],
  [
    "UPSTREAM_TOKENS_FILE",
    undefined,
    { scheme: "Bearer", token: "setting" },
    { UPSTREAM_TOKEN: TOKEN, UPSTREAM_TOKENS_FILE: "tokens.yaml" },
    "token: table",
  ],
  [
    "CLIENT_TOKENS",
    undefined,
    { scheme: "Bearer", token: "setting" },
    { UPSTREAM_TOKEN: TOKEN, CLIENT_TOKENS: TOKEN },
    '"client.credentials"',
  ],
])(
  "%s that has no effect with a pack is a problem of the settings",
  async (name, client, upstream, settings, key) => {
    const started = start(client, upstream, settings);
    await expect(started).rejects.toThrow(SettingsError);
    await expect(started).rejects.toThrow(`${name} has no effect`);
    await expect(started).rejects.toThrow(key);
  },
);

describe("a table of tokens", () => {
  const table = { basic: "both", token: "table" };
  const folder = mkdtempSync(join(tmpdir(), "tokens-"));
  const file = join(folder, "tokens.yaml");
  const settings = { UPSTREAM_TOKENS_FILE: file };
  afterEach(() => rmSync(file, { force: true }));

  test("gives each client's token its own at the upstream, and rejects others", async () => {
    writeFileSync(file, `${TOKEN}: shop:${UPSTREAM}\n"0123": branch:2\n`);
    const { send, service, lastRecord } = await start({ header: "X-Api-Key" }, table, {
      ...RECORDING,
      ...settings,
    });
    for (const token of [TOKEN, "0123"])
      expect((await send("GET /books/7", { headers: { "x-api-key": token } })).status).toBe(200);
    expect(service.calls.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${base64(`shop:${UPSTREAM}`)}`,
      `Basic ${base64("branch:2")}`,
    ]);
    for (const token of ["123", OTHER, `shop:${UPSTREAM}`, "__proto__", "toString"]) {
      const { status, body } = await send("GET /books/7", { headers: { "x-api-key": token } });
      expect([status, body]).toEqual([401, { message: "The access token is not valid." }]);
    }
    expect(service.calls).toHaveLength(2);
    expect(await lastRecord()).not.toContain(OTHER);
  });

  const statusOf = async ({ send }: SmallGateway, token: string): Promise<number> =>
    (await send("GET /books/7", { headers: { "x-api-key": token } })).status;
  const RELOADED = "upstream_tokens_last_reload_successful";

  test("is replaced as a whole by a reload, without another pack", async () => {
    writeFileSync(file, `${TOKEN}: shop:1\n`);
    const started = await start({ header: "X-Api-Key" }, table, settings);
    expect([await statusOf(started, TOKEN), await statusOf(started, OTHER)]).toEqual([200, 401]);
    writeFileSync(file, `${OTHER}: shop:2\n`);
    expect([await statusOf(started, TOKEN), await statusOf(started, OTHER)]).toEqual([200, 401]);
    await started.reload();
    expect([await statusOf(started, TOKEN), await statusOf(started, OTHER)]).toEqual([401, 200]);
    writeFileSync(file, `${OTHER}: shop:3\n`);
    await started.reload();
    expect(await statusOf(started, OTHER)).toBe(200);
    expect(started.service.calls.map(({ headers }) => headers.authorization)).toEqual(
      ["shop:1", "shop:1", "shop:2", "shop:3"].map((token) => `Basic ${base64(token)}`),
    );
    expect(await started.metric(RELOADED)).toBe(1);
  });

  test.each([
    ["missing", undefined],
    ["empty", ""],
    ["not YAML", `${OTHER}: "${UPSTREAM}\n`],
    ["not a map of texts", `${OTHER}: [${UPSTREAM}]\n`],
    ["a table with a token that cannot be sent", `${OTHER}: ${UPSTREAM}\n`],
  ])("stays as it is where the new file is %s, until the file is valid", async (_what, text) => {
    writeFileSync(file, `${TOKEN}: shop:1\n`);
    const started = await start({ header: "X-Api-Key" }, table, settings);
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    await started.reload();
    expect([await statusOf(started, TOKEN), await statusOf(started, OTHER)]).toEqual([200, 401]);
    expect(await started.metric(RELOADED)).toBe(0);
    writeFileSync(file, `${OTHER}: shop:2\n`);
    await started.reload();
    expect([await statusOf(started, TOKEN), await statusOf(started, OTHER)]).toEqual([401, 200]);
    expect(await started.metric(RELOADED)).toBe(1);
  });

  test.each([
    ["that is missing", undefined, "tokens.yaml: ENOENT"],
    ["that is not YAML", `${TOKEN}: "${UPSTREAM}\n`, "tokens.yaml: it is not YAML"],
    ["with other values", `${TOKEN}: [${UPSTREAM}]\n`, "tokens.yaml: it is not a map"],
    [
      "with a token that cannot be sent",
      `${TOKEN}: ${UPSTREAM}\n`,
      "UPSTREAM_TOKENS_FILE: a token contains characters",
    ],
  ])("%s stops the start, and the message has no token", async (_case, text, problem) => {
    if (text !== undefined) writeFileSync(file, text);
    const error = await start({ header: "X-Api-Key" }, table, settings).catch((found: unknown) => found);
    expect(error).toBeInstanceOf(SettingsError);
    const { message } = error as SettingsError;
    expect(message).toContain(problem);
    expect(message).not.toContain(TOKEN);
    expect(message).not.toContain(UPSTREAM);
  });
});

describe("an error of the upstream that repeats its token has a mask in its place", () => {
  const errors = { responses: { error: { message: "$message", field: "$field", code: "$code" } } };
  const headers = { "x-api-key": TOKEN };
  const startWithErrors = async (credentials: object) => {
    gateway = await startSmallGateway(
      {
        client: { credentials: { header: "X-Api-Key" }, ...errors },
        upstream: { credentials: { ...credentials, token: "setting" }, ...errors },
      },
      { UPSTREAM_TOKEN: `shop:${UPSTREAM}+ä`, CLIENT_TOKENS: TOKEN },
    );
    gateway.service.respondWith((call, response) => {
      const text = `${call.path} ${call.headers.authorization} ${decodeURIComponent(call.path)}`;
      const error = { message: `rejected: ${text} ${UPSTREAM}+ä`, field: `f ${text}`, code: `c ${text}` };
      json(403, error)(call, response);
    });
    return gateway;
  };

  test.each([
    ["in the query", { query: "key" }],
    ["as Basic credentials", { basic: "both" }],
  ])("%s", async (_place, credentials) => {
    const { send } = await startWithErrors(credentials);
    const { status, text } = await send("GET /books/7", { headers });
    expect(status).toBe(403);
    expect(text).toContain("rejected: ");
    expect(text).toContain("[redacted]");
    const sent = `shop:${UPSTREAM}+ä`;
    for (const secret of [sent, encodeURIComponent(sent), base64(sent)]) expect(text).not.toContain(secret);
  });

  test("but not in place of the client's own token", async () => {
    const { send, service } = await start({ header: "X-Api-Key" }, { scheme: "Bearer" });
    service.respondWith(json(403, { message: `${TOKEN} may not do this` }));
    const { body } = await send("GET /books/7", { headers });
    expect(body).toEqual({ message: `${TOKEN} may not do this` });
  });
});

test("responses name the header with the token in Vary", async () => {
  const { send } = await start({ cookie: "session" }, { scheme: "Bearer" });
  const { headers } = await send("GET /books/7", { headers: { cookie: `session=${TOKEN}` } });
  expect(headers.get("vary")).toBe("Cookie");
});

describe("the native proxy", () => {
  const send = async (client: object, upstream: object) => {
    const settings = "token" in upstream ? { UPSTREAM_TOKEN: UPSTREAM, CLIENT_TOKENS: OTHER } : {};
    const { send: sendTo, service } = await start(client, upstream, settings);
    const { status } = await sendTo("GET /api/anything", { headers: { authorization: `Bearer ${TOKEN}` } });
    return [status, service.calls.length];
  };

  test("forwards requests with the upstream's scheme, if clients have another one", async () =>
    expect(await send({ basic: "username" }, { scheme: "Bearer" })).toEqual([200, 1]));

  test.each([
    ["clients have another header", { header: "X-Api-Key" }, { scheme: "Bearer" }],
    ["the upstream's token is the gateway's", { scheme: "Key" }, { scheme: "Bearer", token: "setting" }],
  ])("is off if %s", async (_case, client, upstream) =>
    expect([
      [401, 0],
      [404, 0],
    ]).toContainEqual(await send(client, upstream)),
  );
});

describe("host names of the public listener of a pack whose clients have no credentials", () => {
  const NAMED = { HOST: "127.0.0.1", PUBLIC_URL: "https://books.example.org/api" };
  const ANYWHERE = { HOST: "0.0.0.0", PUBLIC_URL: "https://books.example.org/api" };
  test.each([
    [{ HOST: "127.0.0.1" }, "evil.example:8080", 421],
    [{ HOST: "127.0.0.1" }, "localhost.evil.example", 421],
    [{ HOST: "::1" }, "evil.example", 421],
    [{ HOST: "127.0.0.1" }, "localhost:8080", 200],
    [{ HOST: "127.0.0.1" }, "127.0.0.1:8080", 200],
    [NAMED, "books.example.org", 200],
    [NAMED, "evil.example", 421],
    [{ HOST: "0.0.0.0" }, "books.example.org", 200],
    [ANYWHERE, "books.example.org", 200],
    [ANYWHERE, "localhost:8080", 200],
    [ANYWHERE, "evil.example", 421],
    [ANYWHERE, "0.0.0.0.evil.example", 421],
  ])("with %j a request to %s gets %i", async (settings, host, status) => {
    const { send, service, lastRecord } = await start(undefined, undefined, { ...RECORDING, ...settings });
    const response = await send("GET /books/7", { headers: { host } });
    expect(response.status).toBe(status);
    expect(service.calls).toHaveLength(status === 200 ? 1 : 0);
    expect(JSON.parse(await lastRecord()).records[0].alpha.status).toBe(status);
  });

  test("are checked also where the upstream gets UPSTREAM_TOKEN", async () => {
    const settings = { ...ANYWHERE, UPSTREAM_TOKEN: UPSTREAM };
    const { send, service } = await start(undefined, { scheme: "Bearer", token: "setting" }, settings);
    expect((await send("GET /books/7", { headers: { host: "evil.example" } })).status).toBe(421);
    expect(service.calls).toEqual([]);
  });

  test("with client credentials every name is accepted", async () => {
    const { send } = await start({ header: "X-Key" }, { scheme: "Bearer" }, { HOST: "127.0.0.1" });
    const headers = { host: "books.example.org", "x-key": TOKEN };
    expect((await send("GET /books/7", { headers })).status).toBe(200);
  });
});
