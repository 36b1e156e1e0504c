/** Issue 13.13: a personal token that was made through alpha may do what was asked for, and no more, in both dialects. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";

let folder: string;
let gateway: Gateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "personal-"));
  gateway = await startGateway({ DATA_DIR: folder });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Made {
  id: number;
  token: string;
  scopes: string;
}
const make = async (body: object, as?: string): Promise<Made> =>
  (await gateway.request("POST /account/tokens", { body, ...(as !== undefined && { as }) })).body;
const bearer = (call: string, token: string, at = gateway): Promise<TestResponse> =>
  at.request(call, { as: null, headers: { authorization: `Bearer ${token}` } });
const REMOVE = "DELETE /v4/vm/instances/5201";

describe("a personal token created for vms:modify", () => {
  let made: Made;
  beforeAll(async () => {
    made = await make({ label: "cli", scopes: "vms:modify" });
  });

  test("permits changing but not deleting instances, in alpha and as Bearer, without a v4 request", async () => {
    const as = made.token;
    expect((await gateway.request("PUT /vm/instances/5201", { as, body: { group: "g" } })).status).toBe(200);
    expect((await bearer("GET /v4/vm/instances/5201", as)).status).toBe(200);
    gateway.takeV4Requests();
    expect((await gateway.request(REMOVE, { as })).status).toBe(403);
    expect((await bearer(REMOVE, as)).status).toBe(403);
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("is listed, read and renamed with its requested levels", async () => {
    expect(made.scopes).toBe("vms:modify");
    const shown = { id: made.id, scopes: "vms:modify", token: `${made.token.slice(0, 16)}...` };
    expect((await gateway.request(`GET /account/tokens/${made.id}`)).body).toMatchObject(shown);
    const { body } = await gateway.request("GET /account/tokens");
    expect(body.tokens.find(({ id }: Made) => id === made.id)).toMatchObject(shown);
    const renamed = await gateway.request(`PUT /account/tokens/${made.id}`, { body: { label: "other" } });
    expect(renamed.body).toMatchObject({ ...shown, label: "other" });
  });

  test("keeps its levels after a restart of the gateway", async () => {
    const settings = { DATA_DIR: folder, UPSTREAM_URL: gateway.sandbox.url, AUDIT: "off" };
    const other = await startGateway(settings);
    expect((await other.request("GET /vm/instances/5201", { as: made.token })).status).toBe(200);
    expect((await other.request(REMOVE, { as: made.token })).status).toBe(403);
    expect((await bearer(REMOVE, made.token, other)).status).toBe(403);
    await other.stop();
  });

  test("gets 401 in alpha and as Bearer if its record is lost, without a v4 request", async () => {
    const { token } = await make({ label: "lost", scopes: "vms:modify" });
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
    const { id, token } = await make({ label: "short", scopes: "vms:modify" });
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(200);
    await gateway.request(`DELETE /account/tokens/${id}`);
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(401);
  });
});

describe("a personal token created with another token", () => {
  test.each([
    ["vms:modify,tokens:create", "vms:delete", "vms:modify"],
    // v4 gives a token without scopes all that the caller's has there.
    ["vms:modify,tokens:create", undefined, "vms:modify,tokens:create"],
  ])("with %s, requested for %s, permits %s", async (own, asked, may) => {
    const { token } = await make({ label: "own", scopes: own });
    const next = await make({ label: "next", ...(asked !== undefined && { scopes: asked }) }, token);
    expect(next.scopes).toBe(may);
    expect((await gateway.request(REMOVE, { as: next.token })).status).toBe(403);
    expect((await bearer(REMOVE, next.token)).status).toBe(403);
    const used = await bearer("DELETE /v4/account/oauth-clients/x", next.token);
    expect(used.status).toBe(403);
  });

  test("with all scopes, requested for all, is v4's own", async () => {
    const { token, scopes } = await make({ label: "all", scopes: "*" });
    expect(scopes).toBe("*");
    expect((await gateway.requestV4("GET /profile", { as: token })).status).toBe(200);
  });
});

test.each([
  [{}, 99 * 365],
  [{ expiry: "2030-05-20T12:00:00" }, 365],
])("the record of a token %j lives at least as long as the token", async (more, days) => {
  await make({ label: "kept", scopes: "vms:modify", ...more });
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
