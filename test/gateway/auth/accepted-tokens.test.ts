/** Whether v4 has accepted a token: both dialects decide it alike, and a response without a rejection does not suffice. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, neverRespond, plain, raw, type Responder } from "../../support/fake-v4.ts";
import { RECORDING, type TestResponse } from "../../support/gateway.ts";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const bearer = (token: string) => ({ as: null, headers: { authorization: `Bearer ${token}` } });

/** Responses that say nothing about the token. */
const SAY_NOTHING: readonly (readonly [name: string, call: string, response: Responder])[] = [
  ["404 of a path that nobody has", "GET /nothing", json(404, {})],
  ["200 of a path that the pack does not know", "GET /newer/things", json(200, {})],
  ["200 of a public call", "GET /regions", json(200, {})],
  ["400", "POST /vm/instances", json(400, {})],
  ["429", "GET /vm/instances", json(429, {})],
  ["500", "GET /vm/instances", json(500, {})],
  ["503", "GET /vm/instances", json(503, {})],
  ["a reset", "GET /vm/instances", raw("", "reset")],
  ["401", "GET /vm/instances", json(401, {})],
];

describe("a made-up token in v4's own dialect", () => {
  let gateway: ListeningGatewayWithFakeV4;
  beforeEach(async () => {
    gateway = await startListeningGatewayWithFakeV4({ ...RECORDING, RATE_LIMIT: "10/100" });
  });

  const accepted = (): Promise<boolean> =>
    waitFor(async () => (await gateway.readLastRecord())?.client).then((client) => client.accepted);

  test.each(SAY_NOTHING)("is not accepted by %s", async (_name, call, response) => {
    gateway.v4.respondWith(response);
    for (const n of times(2)) await gateway.request(call, bearer(`made-up-${n}`));
    await gateway.request(call, bearer("made-up-0"));
    expect(await accepted()).toBe(false);
  });

  test.each<[string, string, Responder]>([
    ["a scopes header", "GET /regions", json(200, {}, { "x-oauth-scopes": "*" })],
    ["a scopes header of an error", "GET /nothing", json(404, {}, { "x-oauth-scopes": "" })],
    ["the success of a call that v4 checks", "DELETE /vm/instances/7", plain(204, "")],
  ])("would be accepted by %s", async (_name, call, response) => {
    gateway.v4.respondWith(response);
    await gateway.request(call, bearer("valid"));
    expect(await accepted()).toBe(true);
    gateway.v4.respondWith(json(500, {}));
    await gateway.request(call, bearer("valid"));
    expect(await accepted()).toBe(true);
  });

  test.each([
    ["404", "GET /nothing", json(404, {})],
    ["400", "POST /vm/instances", json(400, {})],
    ["a public call", "GET /regions", json(200, {})],
    ["a call that the pack does not know", "GET /newer/things", json(200, {})],
    ["a write that the pack does not know", "POST /newer/things", json(201, {})],
    ["a method that v4 does not have", "PROPFIND /vm/instances", json(501, {})],
    ["a redirect of such a call", "GET /newer/things", json(302, {}, { location: "/v4/elsewhere" })],
  ])(
    "counts against its address if v4 responds, but not about the token: %s",
    async (_name, call, response) => {
      gateway.v4.respondWith(response);
      const statuses: number[] = [];
      for (const n of times(15)) statuses.push((await gateway.request(call, bearer(`made-up-${n}`))).status);
      expect(statuses.filter((status) => status === 429)).toHaveLength(5);
      expect(gateway.v4.calls).toHaveLength(10);
    },
  );
});

test("requests with made-up tokens count if their clients disconnect before v4 responds", async () => {
  const gateway = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "5/100" });
  gateway.v4.respondWith(neverRespond);
  for (const n of times(5)) {
    const gone = new AbortController();
    const headers = { authorization: `Bearer made-up-${n}` };
    const asked = fetch(`${gateway.url}/v4/vm/instances`, { headers, signal: gone.signal }).catch(
      () => "gone",
    );
    await waitFor(() => gateway.v4.calls.length === n + 1);
    gone.abort();
    expect(await asked).toBe("gone");
    await gateway.v4.calls[n]?.ended;
  }
  expect((await gateway.request("GET /vm/instances", bearer("made-up-6"))).status).toBe(429);
  expect(gateway.v4.calls).toHaveLength(5);
});

describe("a v4 that fails does not use up the limit of an address", () => {
  let gateway: ListeningGatewayWithFakeV4;
  beforeEach(async () => {
    gateway = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "10/100", UPSTREAM_TIMEOUT_MS: "1000" });
  });

  const back = json(200, { data: [], page: 1, pages: 1, results: 0 }, { "x-oauth-scopes": "*" });

  describe.each<[string, Responder]>([
    ["a reset", raw("", "reset")],
    ["no HTTP", raw("garbage\r\n\r\n")],
    ["500", json(500, {})],
    ["503", json(503, {})],
    ["429", json(429, {})],
  ])("by %s", (_name, fault) => {
    test.each<[string, (n: number) => Promise<TestResponse>]>([
      ["in v4's own dialect", (n) => gateway.request("GET /vm/instances", bearer(`client-${n}`))],
      ["in the old dialect", (n) => gateway.request("GET /vm/instances", { as: `client-${n}` })],
    ])("%s", async (_dialect, ask) => {
      gateway.v4.respondWith(fault);
      for (const n of times(12)) await ask(n);
      expect(new Set(gateway.v4.calls.map(({ headers }) => headers.authorization)).size).toBe(12);
      gateway.v4.respondWith(back);
      expect((await ask(99)).status).toBe(200);
    });
  });
});

describe("a pack whose upstream sends no scopes", () => {
  let gateway: SmallGateway;
  beforeEach(async () => {
    gateway = await startSmallGateway({
      client: { credentials: { scheme: "token" } },
      upstream: { base_path: "/api", credentials: { scheme: "Bearer" } },
    });
  });

  const ask = (path: string) => gateway.send(`GET ${path}`, { headers: { authorization: "Bearer valid" } });

  test("has its circuit opened by native requests of an accepted token that get 503", async () => {
    gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
    expect((await ask("/api/items/7")).status).toBe(200);
    gateway.service.respondWith(json(503, {}));
    const pauses: (string | null)[] = [];
    for (const _ of times(200)) pauses.push((await ask("/api/items/7")).headers.get("retry-after"));
    expect(gateway.service.calls.length).toBeLessThan(100);
    // On a slow machine the last request may be the probe, which v4 answers.
    expect(pauses).toContain("1");
    expect(await gateway.metric("v4_breaker_open")).toBe(1);
  });
});

describe("a made-up token in the old dialect", () => {
  let gateway: SmallGateway;
  beforeEach(async () => {
    gateway = await startSmallGateway(
      {
        client: { credentials: { scheme: "token" } },
        upstream: { base_path: "/api", credentials: { scheme: "Bearer" } },
        pack: { calls: { shelf: { at: "before", upstream: "GET /shelves/{shelf}" } } },
        book: {
          fields: { id: "id", title: "name", shelf: "shelf" },
          routes: [
            { client: "GET /shelves/:id", scope: "public", upstream: "GET /shelves/{id}" },
            { client: "POST /books", calls: ["shelf"], upstream: "POST /items", body: "create" },
          ],
          bodies: { create: { schema: { type: "object", properties: { shelf: { type: "integer" } } } } },
        },
      },
      { ...RECORDING, RATE_LIMIT: "10/100" },
    );
    gateway.service.respondWith((call, response) =>
      json(call.method === "GET" ? 200 : 401, { id: 7, name: "Waves" })(call, response),
    );
  });

  test("is not accepted by the success of a call that v4 does not check", async () => {
    const statuses: number[] = [];
    for (const n of times(15)) {
      const headers = { authorization: `token made-up-${n}` };
      statuses.push((await gateway.send("POST /books", { headers, body: { shelf: 3 } })).status);
    }
    expect(statuses).toEqual(times(15).map((n) => (n < 10 ? 401 : 429)));
    const records = await gateway.readRecords();
    expect(records.filter(({ client }) => client.accepted !== false)).toEqual([]);
  });
});
