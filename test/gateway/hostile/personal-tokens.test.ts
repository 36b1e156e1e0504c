/** a personal token that was created through alpha permits only the requested scopes, in both dialects. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { json } from "../../support/fake-v4.ts";
import { startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";

let folder: string;
let gateway: Gateway;
beforeAll(async () => {
  folder = temporaryFolder();
  gateway = await startGateway({ DATA_DIR: folder });
});

interface CreatedToken {
  id: number;
  token: string;
  scopes: string;
}
const createToken = async (body: object, as?: string): Promise<CreatedToken> =>
  (await gateway.request("POST /account/tokens", { body, ...(as !== undefined && { as }) })).body;
const bearer = (call: string, token: string, at = gateway): Promise<TestResponse> =>
  at.request(call, { as: null, headers: { authorization: `Bearer ${token}` } });
const REMOVE = "DELETE /v4/vm/instances/5201";

describe("R-14 a personal token created for vms:modify", () => {
  let created: CreatedToken;
  beforeAll(async () => {
    created = await createToken({ label: "cli", scopes: "vms:modify" });
  });

  test("permits changing but not deleting instances, in alpha and as Bearer, without a v4 request", async () => {
    const as = created.token;
    expect((await gateway.request("PUT /vm/instances/5201", { as, body: { group: "g" } })).status).toBe(200);
    expect((await bearer("GET /v4/vm/instances/5201", as)).status).toBe(200);
    gateway.takeV4Requests();
    expect((await gateway.request(REMOVE, { as })).status).toBe(403);
    expect((await bearer(REMOVE, as)).status).toBe(403);
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("is listed, read and renamed with its requested levels", async () => {
    expect(created.scopes).toBe("vms:modify");
    const expected = { id: created.id, scopes: "vms:modify", token: `${created.token.slice(0, 16)}...` };
    expect((await gateway.request(`GET /account/tokens/${created.id}`)).body).toMatchObject(expected);
    const { body } = await gateway.request("GET /account/tokens");
    expect(body.tokens.find(({ id }: CreatedToken) => id === created.id)).toMatchObject(expected);
    const renamed = await gateway.request(`PUT /account/tokens/${created.id}`, { body: { label: "other" } });
    expect(renamed.body).toMatchObject({ ...expected, label: "other" });
  });

  test("keeps its levels after a restart of the gateway", async () => {
    const settings = { DATA_DIR: folder, UPSTREAM_URL: gateway.sandbox.url };
    const other = await startGateway(settings);
    expect((await other.request("GET /vm/instances/5201", { as: created.token })).status).toBe(200);
    expect((await other.request(REMOVE, { as: created.token })).status).toBe(403);
    expect((await bearer(REMOVE, created.token, other)).status).toBe(403);
    await other.stop();
  });

  test("gets 401 in alpha and as Bearer if its record is lost, without a v4 request", async () => {
    const { token } = await createToken({ label: "lost", scopes: "vms:modify" });
    const database = new DatabaseSync(join(folder, "state.db"));
    database.exec("DELETE FROM entry WHERE key LIKE 'grant:%'");
    database.close();
    await new Promise((resolve) => setTimeout(resolve, 3200));
    gateway.takeV4Requests();
    for (const response of [await gateway.request(REMOVE, { as: token }), await bearer(REMOVE, token)])
      expect(response.status).toBe(401);
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("ends when it is deleted", async () => {
    const { id, token } = await createToken({ label: "short", scopes: "vms:modify" });
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(200);
    await gateway.request(`DELETE /account/tokens/${id}`);
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(401);
  });
});

/** Runs SQL in the state store of the gateway. */
function inStore(sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(join(folder, "state.db"));
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
const entryCount = (): unknown =>
  inStore("SELECT count(*) AS entries FROM entry WHERE owner IS NOT NULL")[0]?.["entries"];

test("a personal token that is deleted leaves nothing behind in the store", async () => {
  const before = entryCount();
  const { id, token } = await createToken({ label: "short", scopes: "vms:modify" });
  expect(entryCount()).toBe(Number(before) + 2);
  expect((await gateway.request(`DELETE /account/tokens/${id}`)).status).toBe(200);
  expect(entryCount()).toBe(before);
  expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(401);
  expect((await bearer("GET /v4/vm/instances", token)).status).toBe(401);
});

describe("a client that has used up its share of the store", () => {
  const create = (as: string) =>
    gateway.request("POST /account/tokens", { as, body: { label: "one more", scopes: "vms:modify" } });
  let creator: string;
  /** Created by the one before: it has no share of its own. */
  let next: string;
  beforeAll(async () => {
    creator = (await createToken({ label: "all", scopes: "*" })).token;
    next = (await createToken({ label: "next", scopes: "tokens:create,vms:modify" }, creator)).token;
    inStore(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1998)
      INSERT INTO entry SELECT 'filled ' || i, '', ends, owner FROM n, (SELECT * FROM entry ORDER BY rowid DESC LIMIT 1)
      RETURNING key`);
  });

  test("gets alpha's 420 for a new token, and v4 creates none", async () => {
    gateway.takeV4Requests();
    for (const as of [creator, next]) {
      const { status, body } = await create(as);
      expect([status, body.errors]).toEqual([
        420,
        [{ reason: "Too many tokens exist already. Delete tokens that are not used." }],
      ]);
    }
    expect(gateway.takeV4Requests().filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("does not affect other clients: their tokens work, and they create more", async () => {
    const { token } = await createToken({ label: "of another", scopes: "vms:modify" });
    expect((await gateway.request("GET /vm/instances/5201", { as: token })).status).toBe(200);
    expect((await gateway.request("GET /vm/instances/5201", { as: next })).status).toBe(200);
    expect(await gateway.readiness()).toEqual([]);
  });

  test("may create tokens again once some are gone", async () => {
    inStore("DELETE FROM entry WHERE key LIKE 'filled %' RETURNING key");
    expect((await create(next)).status).toBe(200);
  });
});

describe("a personal token created with another token", () => {
  test.each([
    ["vms:modify,tokens:create", "vms:delete", "vms:modify"],
    // v4 gives a token without scopes all that the caller's has there.
    ["vms:modify,tokens:create", undefined, "vms:modify,tokens:create"],
  ])("with %s, requested for %s, permits %s", async (own, asked, may) => {
    const { token } = await createToken({ label: "own", scopes: own });
    const next = await createToken({ label: "next", ...(asked !== undefined && { scopes: asked }) }, token);
    expect(next.scopes).toBe(may);
    expect((await gateway.request(REMOVE, { as: next.token })).status).toBe(403);
    expect((await bearer(REMOVE, next.token)).status).toBe(403);
    const used = await bearer("DELETE /v4/account/oauth-clients/x", next.token);
    expect(used.status).toBe(403);
  });

  test("with all scopes, requested for all, is v4's own", async () => {
    const { token, scopes } = await createToken({ label: "all", scopes: "*" });
    expect(scopes).toBe("*");
    expect((await gateway.requestV4("GET /profile", { as: token })).status).toBe(200);
  });
});

test.each([
  [{}, 99 * 365],
  [{ expiry: "2030-05-20T12:00:00" }, 365],
])("the record of a token %j lives at least as long as the token", async (more, days) => {
  await createToken({ label: "kept", scopes: "vms:modify", ...more });
  const database = new DatabaseSync(join(folder, "state.db"), { readOnly: true });
  const rows = database
    .prepare(
      "SELECT key, ends FROM entry WHERE key LIKE 'grant:%' OR key LIKE 'levels:%' ORDER BY rowid DESC LIMIT 2",
    )
    .all();
  database.close();
  expect(new Set(rows.map(({ key }) => String(key).split(":")[0]))).toEqual(new Set(["grant", "levels"]));
  for (const { ends } of rows) expect((Number(ends) - Date.now()) / 86_400_000).toBeGreaterThan(days);
});

test("v4's token is not handed out if v4's response does not say its scopes", async () => {
  const other = await startGatewayWithFakeV4();
  other.v4.respondWith(json(200, { id: 7, label: "cli", token: "f".repeat(64), expiry: null }));
  const { status, body } = await other.request("POST /account/tokens", {
    body: { label: "cli", scopes: "vms:modify" },
  });
  expect([status, body.scopes]).toEqual([200, ""]);
  expect(body.token).toMatch(/./);
  expect(body.token).not.toBe("f".repeat(64));
});
