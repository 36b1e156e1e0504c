import { beforeEach, describe, expect, test } from "@jest/globals";
import type { SandboxResponse, SandboxRequest, Json } from "./sandbox-service.ts";
import { errorFields, items, sandboxForEachTest } from "./sandbox-service.ts";

const service = sandboxForEachTest();

const ask = (request: string, body?: Json, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
  service.request(request, { as, ...(body && { body }) });
const status = async (request: string, body?: Json): Promise<number> => (await ask(request, body)).status;

describe("databases", () => {
  const path = "/databases/mysql/instances";
  const wanted = { label: "shop-db", type: "g6-standard-1", engine: "mysql/8.0.26", region: "us-east" };
  let id: string;
  beforeEach(async () => {
    id = `${path}/${String((await ask(`POST ${path}`, wanted)).body["id"])}`;
  });

  test("V-138 are created, listed, read and updated", async () => {
    expect((await ask(`GET ${id}`)).body).toMatchObject({ ...wanted, engine: "mysql", version: "8.0.26" });
    expect(items(await ask(`GET ${path}`))).toHaveLength(1);
    expect(items(await ask("GET /databases/instances"))).toMatchObject([
      { instance_uri: expect.any(String) },
    ]);
    const updates = { frequency: "monthly", duration: 1, hour_of_day: 4, day_of_week: 2, week_of_month: 1 };
    expect((await ask(`PUT ${id}`, { updates, label: "db-two" })).body).toMatchObject({
      updates,
      label: "db-two",
    });
    expect(errorFields(await ask(`POST ${path}`, {}))).toEqual(["label", "type", "engine", "region"]);
  });

  test("V-082 V-084 change from provisioning to active, and can only be deleted then", async () => {
    expect((await ask(`GET ${id}`)).body["status"]).toBe("provisioning");
    expect(await status(`DELETE ${id}`)).toBe(400);
    service.clock.advance(60_000);
    expect((await ask(`GET ${id}`)).body["status"]).toBe("active");
    expect((await ask(`DELETE ${id}`)).body).toEqual({});
    expect(await status(`GET ${id}`)).toBe(404);
  });

  test("V-084 V-085 V-141 V-142 have a certificate while active, and can be deleted while degraded", async () => {
    expect(await status(`GET ${id}/ssl`)).toBe(400);
    expect(await status(`POST ${id}/patch`)).toBe(400);
    service.clock.advance(60_000);
    expect(await status(`GET ${id}/ssl`)).toBe(200);
    expect((await ask(`POST ${id}/patch`)).body).toEqual({});
    expect((await ask(`GET ${id}`)).body["status"]).toBe("degraded");
    expect(await status(`GET ${id}/ssl`)).toBe(400);
    expect(await status(`DELETE ${id}`)).toBe(200);
  });

  test("V-086 V-139 have backups once they are active", async () => {
    for (const request of [`GET ${id}/backups`, `GET ${id}/backups/6501`]) {
      expect(await status(request)).toBe(request.endsWith("backups") ? 400 : 404);
    }
    expect(await status(`POST ${id}/backups`, { label: "first" })).toBe(400);
    service.clock.advance(60_000);
    expect((await ask(`POST ${id}/backups`, { label: "first" })).body).toEqual({});
    const [backup] = items(await ask(`GET ${id}/backups`));
    expect(backup).toMatchObject({ type: "snapshot", label: "first" });
    const one = `${id}/backups/${String(backup?.["id"])}`;
    expect((await ask(`GET ${one}`)).body).toEqual(backup);
    expect((await ask(`POST ${one}/restore`)).body).toEqual({});
  });

  test("V-140 credentials are shown and reset", async () => {
    const before = (await ask(`GET ${id}/credentials`)).body;
    expect(before).toEqual({ username: "root", password: expect.any(String) });
    await ask(`POST ${id}/credentials/reset`);
    expect((await ask(`GET ${id}/credentials`)).body["password"]).not.toBe(before["password"]);
  });

  test("V-137 engines and types are public", async () => {
    for (const each of ["engines", "engines/mysql/8.0.26", "types", "types/g6-standard-1"]) {
      expect((await ask(`GET /databases/${each}`, undefined, "anonymous")).status).toBe(200);
    }
  });
});

describe("managed credentials", () => {
  test("V-070 V-115 are read only with the higher scope", async () => {
    expect((await ask("GET /managed/credentials/9911")).body).toEqual({
      id: 9911,
      label: "db admin",
      last_decrypted: null,
    });
    const { body } = await ask("POST /profile/tokens", { label: "r", scopes: "account:read_only" });
    const as = { authorization: `Bearer ${String(body["token"])}` };
    expect((await ask("GET /managed/credentials/9911", undefined, as)).status).toBe(403);
    expect((await ask("GET /managed/credentials", undefined, as)).status).toBe(200);
  });

  test.each([
    ["ab", 200],
    ["x".repeat(75), 200],
    ["a b.c-d_e", 200],
    ["a", 400],
    ["x".repeat(76), 400],
    ["a/b", 400],
    ["web admin", 400],
  ])("V-071 V-072 V-116 label %j is %i", async (label, expected) => {
    const response = await ask("PUT /managed/credentials/9911", {
      label,
      last_decrypted: "2020-01-01T00:00:00",
    });
    expect(response.status).toBe(expected);
    const written = { id: 9911, label, last_decrypted: null };
    expect(expected === 200 ? response.body : errorFields(response)).toEqual(
      expected === 200 ? written : ["label"],
    );
  });

  test("V-117 accept user name and password and never show them", async () => {
    const response = await ask("POST /managed/credentials/9911/update", {
      username: "u5er",
      password: "pa55",
    });
    expect([response.status, response.body]).toEqual([200, {}]);
    expect(JSON.stringify((await ask("GET /managed/credentials")).body)).not.toMatch(/u5er|pa55/);
    expect(errorFields(await ask("POST /managed/credentials/9911/update", {}))).toEqual(["password"]);
  });

  test("V-157 services are created and changed", async () => {
    const body = { label: "shop", service_type: "url", address: "https://shop.example.net", timeout: 30 };
    const response = await ask("POST /managed/services", { ...body, credentials: [9911] });
    expect(response.body).toMatchObject({ ...body, status: "pending" });
    const path = `/managed/services/${String(response.body["id"])}`;
    expect((await ask(`PUT ${path}`, { timeout: 60 })).body["timeout"]).toBe(60);
    expect(errorFields(await ask("POST /managed/services", {}))).toHaveLength(4);
    expect(errorFields(await ask(`PUT ${path}`, { credentials: [1] }))).toEqual(["credentials"]);
  });
});
