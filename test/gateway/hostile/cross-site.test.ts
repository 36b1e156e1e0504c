/** Writes that a page of another origin makes a browser send, where the browser has all that they need. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway | undefined;

const basic = `Basic ${Buffer.from("token-1234:").toString("base64")}`;

/** Where browsers have what a request needs, with a request's headers. */
const AMBIENT = [
  ["no credentials", undefined, {}],
  ["a cookie", { cookie: "session" }, { cookie: "session=token-1234" }],
  ["Basic with a realm", { basic: "username", realm: "books" }, { authorization: basic }],
] as const;

/** Where a page must know the token. */
const KNOWN = [
  ["a header", { header: "X-Key" }, { "x-key": "token-1234" }],
  ["a scheme", { scheme: "Key" }, { authorization: "Key token-1234" }],
  ["Basic without a realm", { basic: "username" }, { authorization: basic }],
] as const;

/** A write without a body: a browser sends it without a preflight. */
const WRITE = "POST /books/7/return";
const ROUTES = [
  { client: "GET /books/:id", upstream: "GET /items/{id}" },
  { client: "POST /books/:id/return", upstream: "POST /items/{id}/return" },
];

async function start(credentials: object | undefined, settings: TestSettings = {}): Promise<SmallGateway> {
  gateway = await startSmallGateway(
    {
      client: credentials ? { credentials } : {},
      upstream: { base_path: "/api", ...(credentials && { credentials: { scheme: "Bearer" } }) },
      book: { routes: ROUTES },
    },
    { HOST: "127.0.0.1", ...settings },
  );
  gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
  return gateway;
}

const HOST = "localhost:8080";
const CROSS = [
  { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  { origin: "https://evil.localhost", "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site" },
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://localhost:9090" },
];
const OWN = [
  {},
  { "sec-fetch-site": "none" },
  { origin: "http://localhost:8080" },
  { origin: "https://books.example", "sec-fetch-site": "same-origin" },
];

describe.each(AMBIENT)("with %s", (_place, credentials, headers) => {
  test("writes of pages of another origin are rejected and recorded, and nothing is called", async () => {
    const { send, service, readRecords, metric } = await start(credentials, RECORDING);
    for (const cross of CROSS)
      for (const call of [WRITE, "DELETE /books/7", "POST /nowhere"]) {
        const response = await send(call, { headers: { ...headers, ...cross, host: HOST } });
        expect([call, cross, response.status]).toEqual([call, cross, 403]);
      }
    expect(service.calls).toEqual([]);
    const records = await readRecords();
    expect(records).toHaveLength(18);
    expect(new Set(records.map(({ rejectedBy }) => rejectedBy))).toEqual(new Set(["cross_site"]));
    expect(await metric('refusals_total{reason="cross_site",status="403"}')).toBe(18);
  });

  test("their reads pass: a link leads here", async () => {
    const { send } = await start(credentials);
    for (const cross of CROSS)
      expect((await send("GET /books/7", { headers: { ...headers, ...cross, host: HOST } })).status).toBe(
        200,
      );
  });

  test("writes of its own pages, and of clients that are not browsers, pass", async () => {
    const { send, service } = await start(credentials);
    for (const page of OWN) await send(WRITE, { headers: { ...headers, ...page, host: HOST } });
    expect(service.calls.filter(({ method }) => method === "POST")).toHaveLength(OWN.length);
  });

  test("writes of an origin of CORS_ORIGINS, and of PUBLIC_URL, pass", async () => {
    const { send, service } = await start(credentials, {
      CORS_ORIGINS: "https://app.example",
      PUBLIC_URL: "https://books.example",
    });
    for (const allowed of [
      { origin: "https://app.example", "sec-fetch-site": "cross-site" },
      { origin: "https://books.example" },
    ])
      await send(WRITE, {
        headers: { ...headers, ...allowed, host: HOST },
      });
    expect(service.calls.filter(({ method }) => method === "POST")).toHaveLength(2);
  });
});

test.each(["null", "file://"])(
  "a write of origin %s is rejected where the Host is empty, too",
  async (origin) => {
    const { send, service } = await start({ cookie: "session" });
    const headers = { cookie: "session=token-1234", origin, host: "" };
    expect((await send(WRITE, { headers })).status).toBe(403);
    expect(service.calls).toEqual([]);
  },
);

test("CORS_ORIGINS=* lets every page write where clients have no credentials, and none where a browser has them", async () => {
  const write = async (credentials: object | undefined, headers: object): Promise<number> => {
    const { send, service, stop } = await start(credentials, { CORS_ORIGINS: "*" });
    await send(WRITE, {
      headers: { ...headers, origin: "https://any.example", host: HOST },
    });
    const { length } = service.calls.filter(({ method }) => method === "POST");
    await stop();
    gateway = undefined;
    return length;
  };
  expect(await write(undefined, {})).toBe(1);
  expect(await write({ cookie: "session" }, { cookie: "session=token-1234" })).toBe(0);
});

test.each(KNOWN)("with %s pages of another origin may write", async (_place, credentials, headers) => {
  const { send, service } = await start(credentials);
  for (const cross of CROSS) await send(WRITE, { headers: { ...headers, ...cross, host: HOST } });
  expect(service.calls.filter(({ method }) => method === "POST")).toHaveLength(CROSS.length);
});
