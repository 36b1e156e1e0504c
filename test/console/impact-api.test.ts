/** `GET /api/usage/impact`: who would notice. */
import { beforeAll, expect, test } from "@jest/globals";
import { startGateway, type Gateway } from "../support/gateway.ts";

const BODY = { dnszone: "a.example", type: "master", soa_email: "a@a.example" };
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ AUDIT: "metadata", AUDIT_DURABILITY: "strict" });
  await gateway.request("POST /dns/zones", { body: BODY });
  await gateway.request("GET /vm/instances?page=1");
  await gateway.request("GET /vm/instances", { as: "invented-token" });
});

const ask = async (query: Readonly<Record<string, string>>) => {
  const { status, body } = await gateway.requestAdmin(
    `GET /api/usage/impact?${new URLSearchParams(query).toString()}`,
  );
  return { status, ...body };
};

test("a route has its callers, and the names that can be asked about", async () => {
  const { clients, names, status } = await ask({ route: "POST /dns/zones" });
  expect(status).toBe(200);
  expect(clients).toMatchObject([{ calls: 1, routes: ["POST /dns/zones"], name: null }]);
  expect(names.sent).toEqual(expect.arrayContaining(["body.type", "body.type=master"]));
  expect(names.read).toEqual(expect.arrayContaining(["answer.dnszone"]));
});

test("a word selects the clients that sent it, even without recorded bodies", async () => {
  expect((await ask({ field: "type", word: "master" })).clients).toHaveLength(1);
  expect((await ask({ field: "body.type", word: "slave" })).clients).toEqual([]);
});

test("a route that v4 has no counterpart for has its callers, too", async () => {
  const { routes } = (await gateway.requestAdmin("GET /api/mappings")).body;
  const route = routes.find(({ v4 }: { v4: string }) => v4 === "none").alpha;
  expect(await ask({ route })).toMatchObject({ status: 200, clients: [], names: { route } });
});

test("tokens that v4 never accepted are not clients", async () => {
  expect((await ask({ route: "GET /vm/instances" })).clients).toMatchObject([{ calls: 1 }]);
});

test("days limit what counts", async () => {
  expect((await ask({ route: "POST /dns/zones", since: "2099-01-01" })).clients).toEqual([]);
  expect((await ask({ route: "POST /dns/zones", until: "2000-01-01" })).clients).toEqual([]);
});

test.each([
  [{}, "route"],
  [{ route: "" }, "route"],
  [{ route: "GET /vm/instances", word: "a" }, "field"],
  [{ field: "a".repeat(501) }, "field"],
  [{ field: "label", since: "yesterday" }, "since"],
  [{ field: "label", lane: "alpha" }, "lane"],
  [{ field: "label", colour: "red" }, "colour"],
])("%j is rejected by name", async (query, parameter) => {
  expect(await ask(query)).toMatchObject({ status: 400, errors: [{ parameter }] });
});

test("names that are missing in the pack are not found, because they are not counted", async () => {
  expect(await ask({ route: "GET /nowhere" })).toMatchObject({ status: 404 });
  expect(await ask({ field: "nothing" })).toMatchObject({ status: 404 });
});

test("nothing is counted if auditing is off", async () => {
  const off = await startGateway({ AUDIT: "off" });
  const { status, body } = await off.requestAdmin("GET /api/usage/impact?field=label");
  expect(status).toBe(404);
  expect(body.errors[0].reason).toContain("Auditing is off");
});
