/** A v4 that is not there yet: the process runs, says why it is not ready, and becomes ready automatically. */
import { describe, expect, test } from "@jest/globals";
import { waitFor } from "../support/gateway-with-fake-v4.ts";
import { acceptGoodTokens, json, startFakeV4, type FakeV4 } from "../support/fake-v4.ts";
import { freePort } from "../support/free-port.ts";
import {
  RECORDING,
  openGateway,
  startGateway,
  startListeningGateway,
  type Gateway,
  type TestSettings,
} from "../support/gateway.ts";
import { request } from "../support/request.ts";
import { writeSmallPack } from "../support/small-pack.ts";

let gateway: Gateway;
let v4: FakeV4;

const ready = async (): Promise<{ status: number; reasons: string[] }> => {
  const response = await gateway.requestAdmin("GET /readyz");
  return { status: response?.status ?? 0, reasons: response?.body.reasons };
};

const CATALOG_ROUTES = [
  "/datacenters",
  "/vm/distributions",
  "/vm/kernels",
  "/vm/types",
  "/datacenters/newark",
];

describe("a start while v4 is down", () => {
  test("is alive and not ready without a listening v4, and ready once it listens", async () => {
    const place = await startFakeV4(await freePort());
    await place.close();
    gateway = await startGateway({ UPSTREAM_URL: place.url });
    expect((await gateway.requestAdmin("GET /healthz")).status).toBe(200);
    const before = await ready();
    expect(before.status).toBe(503);
    expect(
      before.reasons.map((reason) => reason.replace(/:.*/, "")).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(["catalog datacenter", "catalog distribution", "catalog kernel", "catalog type"]);
    for (const route of CATALOG_ROUTES.filter((path) => !path.startsWith("/datacenters"))) {
      expect(await gateway.request(`GET ${route}`, { as: null })).toMatchObject({
        status: 500,
        body: { errors: [{ reason: expect.stringMatching(/could not process/) }] },
      });
    }
    // Those that alpha has are in the pack (T-6.1).
    const { body } = await gateway.request("GET /datacenters", { as: null });
    expect(body).toMatchObject({ page: 1, total_pages: 1, total_results: 7 });
    expect(body.datacenters).toContainEqual({ id: "newark", label: "Newark, NJ", country: "us" });
    expect(await gateway.request("GET /datacenters/newark", { as: null })).toMatchObject({
      status: 200,
      body: { id: "newark", label: "Newark, NJ", country: "us" },
    });
    expect(await gateway.request("GET /datacenters/us-east", { as: null })).toMatchObject({ status: 404 });
    expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 500 });
    expect(
      await gateway.request("POST /vm/instances", {
        body: { datacenter: "newark", type: "g6-standard-1", label: "web-one" },
      }),
    ).toMatchObject({ body: { errors: expect.any(Array) } });

    v4 = await startFakeV4(Number(new URL(place.url).port));
    await waitFor(async () => (await ready()).status === 200);
    expect(await gateway.request("GET /datacenters", { as: null })).toMatchObject({
      status: 200,
      body: { datacenters: expect.arrayContaining([expect.objectContaining({ id: "newark" })]) },
    });
  });

  test("is not ready while v4 responds with 503", async () => {
    v4 = await startFakeV4();
    v4.setCatalogsAvailable(false);
    gateway = await startGateway({ UPSTREAM_URL: v4.url });
    expect(await ready()).toMatchObject({
      status: 503,
      reasons: expect.arrayContaining([expect.stringMatching(/503/)]),
    });
    v4.setCatalogsAvailable(true);
    await waitFor(async () => (await ready()).status === 200);
  });
});

test("catalogs come from the cache while v4 is down, and the process stays ready", async () => {
  v4 = await startFakeV4();
  gateway = await startGateway({ UPSTREAM_URL: v4.url, CATALOG_TTL_SECONDS: "1" });
  v4.setCatalogsAvailable(false);
  v4.respondWith(json(500, {}));
  await new Promise((resolve) => setTimeout(resolve, 1300));
  expect(await gateway.request("GET /datacenters", { as: null })).toMatchObject({ status: 200 });
  expect(await ready()).toMatchObject({ status: 200 });
});

test("a catalog that requires a token is read with the first token that v4 has accepted", async () => {
  v4 = await startFakeV4();
  v4.requireTokenFor("/v4/images");
  gateway = await startGateway({ UPSTREAM_URL: v4.url });
  expect(await ready()).toMatchObject({ status: 200 });
  expect(await gateway.request("GET /vm/distributions", { as: null })).toMatchObject({ status: 500 });
  v4.respondWith(json(401, {}));
  expect(await gateway.request("GET /vm/instances/5", { as: "made-up" })).toMatchObject({ status: 401 });
  v4.respondWith(json(200, { id: 5, region: "us-east", image: "vm/debian9", type: null }));
  expect(await gateway.request("GET /vm/instances/5")).toMatchObject({
    status: 200,
    body: { distribution: { id: "vm/debian9", label: "vm/debian9" } },
  });
  expect(await gateway.request("GET /vm/instances/5")).toMatchObject({
    status: 200,
    body: { distribution: { id: "vm/debian9", label: "Debian 9" } },
  });
  expect(await gateway.request("GET /vm/distributions", { as: null })).toMatchObject({
    status: 200,
    body: { distributions: [{ id: "vm/debian9" }] },
  });
});

describe("a catalog that requires a token, for clients that call nothing else", () => {
  test.each<TestSettings>([RECORDING, { AUDIT: "off" }])(
    "is read once v4 has accepted the token: %j",
    async (settings) => {
      v4 = await startFakeV4();
      v4.requireTokenFor("/v4/images");
      const started = (gateway = await startGateway({ UPSTREAM_URL: v4.url, ...settings }));
      v4.respondWith(acceptGoodTokens);
      const read = (as: string) => started.request("GET /vm/distributions", { as });
      expect(await read("made-up")).toMatchObject({ status: 500 });
      expect(await read("made-up")).toMatchObject({ status: 500 });
      const answers = await Promise.all([read("good"), read("good")]);
      expect(answers).toMatchObject([
        { status: 200, body: { distributions: [{ id: "vm/debian9" }] } },
        { status: 200, body: { distributions: [{ id: "vm/debian9" }] } },
      ]);
      expect(v4.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /v4/profile",
        "GET /v4/profile",
      ]);
    },
  );

  test("is a 401 to a token that v4 rejects, where the route is not public", async () => {
    const folder = writeSmallPack({
      client: { credentials: { scheme: "Bearer" } },
      upstream: { credentials: { scheme: "Bearer" }, token_check: "GET /profile" },
      book: {
        catalog: { upstream: [{ request: "GET /items" }], with_token: "true", stub: "{ 'id': $id }" },
        fields: { id: "id" },
        routes: [{ client: "GET /books", catalog: true, response: "list" }],
      },
    });
    v4 = await startFakeV4();
    v4.respondWith((call, response) =>
      call.headers.authorization === "Bearer good"
        ? json(200, [{ id: "a" }])(call, response)
        : json(401, {})(call, response),
    );
    const small = await openGateway({ UPSTREAM_URL: v4.url, MAPPINGS_DIR: folder });
    const read = (token: string) =>
      request(small.app, "GET /books", { headers: { authorization: `Bearer ${token}` } });
    expect(await read("bad")).toMatchObject({ status: 401 });
    expect(await read("good")).toMatchObject({ status: 200, body: [{ id: "a" }] });
  });
});

test("a catalog row on which an expression of the pack fails is left out and counted; the gateway is ready", async () => {
  const folder = writeSmallPack({
    book: {
      catalog: { upstream: [{ request: "GET /items" }], stub: "{ 'id': $id }" },
      fields: { id: "id", pages: { read: "$number(pages)" } },
      routes: [{ client: "GET /books", catalog: true, response: "list" }],
    },
  });
  v4 = await startFakeV4();
  v4.respondWith(
    json(200, [
      { id: "a", pages: "7" },
      { id: "b", pages: "many" },
    ]),
  );
  const small = await openGateway({ UPSTREAM_URL: v4.url, MAPPINGS_DIR: folder });
  expect((await small.requestAdmin("GET /readyz")).body.reasons ?? []).toEqual([]);
  expect((await request(small.app, "GET /books")).body).toEqual([{ id: "a", pages: 7 }]);
  const { text } = await small.requestAdmin("GET /metrics");
  expect(text).toMatch(/^alpha_gateway_catalog_rows_left_out 1$/m);
});

test("T-7.1 catalog routes cause no v4 requests", async () => {
  v4 = await startFakeV4();
  gateway = await startGateway({ UPSTREAM_URL: v4.url });
  // A token that v4 never saw would be checked.
  v4.respondWith(acceptGoodTokens);
  await gateway.request("GET /vm/instances", { as: "good" });
  const before = v4.countConnections();
  for (const route of CATALOG_ROUTES)
    for (const as of ["good", null])
      expect(await gateway.request(`GET ${route}`, { as })).toMatchObject({ status: 200 });
  expect(v4.calls).toHaveLength(1);
  expect(v4.countConnections()).toBe(before);
});

test("stop() finishes in-flight requests and accepts no new ones", async () => {
  v4 = await startFakeV4();
  gateway = await startListeningGateway({ UPSTREAM_URL: v4.url });
  let respond = () => {};
  v4.respondWith((call, response) => {
    respond = () => void json(200, {})(call, response);
  });
  const inFlight = gateway.request("DELETE /vm/instances/7");
  await waitFor(() => v4.calls[0]);
  const stopped = gateway.stop();
  expect(await gateway.readiness()).toContain("draining");
  respond();
  expect(await inFlight).toMatchObject({ status: 200 });
  await stopped;
  await expect(gateway.request("GET /datacenters")).rejects.toThrow(/ECONNREFUSED/);
});
