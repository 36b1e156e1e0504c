import { beforeEach, describe, expect, test } from "@jest/globals";
import { errorFields, sandboxForEachTest } from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

describe("databases", () => {
  const path = "/databases/mysql/instances";
  const wanted = { label: "shop-db", type: "g6-standard-1", engine: "mysql/8.0.26", region: "us-east" };
  let id: string;
  beforeEach(async () => {
    id = `${path}/${String((await v4.read(`POST ${path}`, wanted)).id)}`;
  });

  test("V-138 are created, listed, read and updated", async () => {
    expect(await v4.read(`GET ${id}`)).toMatchObject({ ...wanted, engine: "mysql", version: "8.0.26" });
    expect(await v4.list(path)).toHaveLength(1);
    expect(await v4.list("/databases/instances")).toMatchObject([{ instance_uri: expect.any(String) }]);
    const updates = { frequency: "monthly", duration: 1, hour_of_day: 4, day_of_week: 2, week_of_month: 1 };
    expect(await v4.read(`PUT ${id}`, { updates, label: "db-two" })).toMatchObject({
      updates,
      label: "db-two",
    });
    expect(await v4.faults(`POST ${path}`)).toEqual(["label", "type", "engine", "region"]);
  });

  test("V-082 V-084 change from provisioning to active, and can only be deleted then", async () => {
    expect((await v4.read(`GET ${id}`)).status).toBe("provisioning");
    expect(await v4.status(`DELETE ${id}`)).toBe(400);
    v4.clock.advance(60_000);
    expect((await v4.read(`GET ${id}`)).status).toBe("active");
    expect(await v4.read(`DELETE ${id}`)).toEqual({});
    expect(await v4.status(`GET ${id}`)).toBe(404);
  });

  test("V-084 V-085 V-141 V-142 have a certificate while active, and can be deleted while degraded", async () => {
    expect(await v4.status(`GET ${id}/ssl`)).toBe(400);
    expect(await v4.status(`POST ${id}/patch`)).toBe(400);
    v4.clock.advance(60_000);
    expect(await v4.status(`GET ${id}/ssl`)).toBe(200);
    expect(await v4.read(`POST ${id}/patch`)).toEqual({});
    expect((await v4.read(`GET ${id}`)).status).toBe("degraded");
    expect(await v4.status(`GET ${id}/ssl`)).toBe(400);
    expect(await v4.status(`DELETE ${id}`)).toBe(200);
  });

  test("V-086 V-139 have backups once they are active", async () => {
    for (const request of [`GET ${id}/backups`, `GET ${id}/backups/6501`]) {
      expect(await v4.status(request)).toBe(request.endsWith("backups") ? 400 : 404);
    }
    expect(await v4.status(`POST ${id}/backups`, { label: "first" })).toBe(400);
    v4.clock.advance(60_000);
    expect(await v4.read(`POST ${id}/backups`, { label: "first" })).toEqual({});
    const [backup] = await v4.list(`${id}/backups`);
    expect(backup).toMatchObject({ type: "snapshot", label: "first" });
    const one = `${id}/backups/${backup?.id}`;
    expect(await v4.read(`GET ${one}`)).toEqual(backup);
    expect(await v4.read(`POST ${one}/restore`)).toEqual({});
  });

  test("V-140 credentials are shown and reset", async () => {
    const before = await v4.read(`GET ${id}/credentials`);
    expect(before).toEqual({ username: "root", password: expect.any(String) });
    await v4.ask(`POST ${id}/credentials/reset`);
    expect((await v4.read(`GET ${id}/credentials`)).password).not.toBe(before.password);
  });

  test("V-137 engines and types are public", async () => {
    for (const each of ["engines", "engines/mysql/8.0.26", "types", "types/g6-standard-1"]) {
      expect(await v4.as("anonymous").status(`GET /databases/${each}`)).toBe(200);
    }
  });
});

describe("managed credentials", () => {
  test("V-070 V-115 are read only with the higher scope", async () => {
    expect(await v4.read("GET /managed/credentials/9911")).toEqual({
      id: 9911,
      label: "db admin",
      last_decrypted: null,
    });
    const { body } = await v4.ask("POST /profile/tokens", { label: "r", scopes: "account:read_only" });
    const as = { authorization: `Bearer ${body.token}` };
    expect(await v4.as(as).status("GET /managed/credentials/9911")).toBe(403);
    expect(await v4.as(as).status("GET /managed/credentials")).toBe(200);
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
    const response = await v4.ask("PUT /managed/credentials/9911", {
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
    const body = { label: "shop db", username: "root-name", password: "S3cret-of-shop" };
    const response = await v4.ask("POST /managed/credentials", body);
    expect(Object.keys(response.body).toSorted()).toEqual(["id", "label", "last_decrypted"]);
    const path = `/managed/credentials/${response.body.id}`;
    const update = { username: "other-name", password: "0ther-S3cret" };
    expect(await v4.read(`POST ${path}/update`, update)).toEqual({});
    expect(await v4.faults(`POST ${path}/update`)).toEqual(["password"]);
    for (const request of [`GET ${path}`, "GET /managed/credentials", "GET /account/events"]) {
      const text = JSON.stringify(await v4.read(request));
      for (const secret of ["root-name", "S3cret", "other-name"]) expect(text).not.toContain(secret);
    }
    expect(JSON.stringify(v4.sandbox.save())).not.toContain("S3cret");
  });

  test("V-157 services are created and changed", async () => {
    const body = { label: "shop", service_type: "url", address: "https://shop.example.net", timeout: 30 };
    const response = await v4.ask("POST /managed/services", { ...body, credentials: [9911] });
    expect(response.body).toMatchObject({ ...body, status: "pending" });
    const path = `/managed/services/${response.body.id}`;
    expect((await v4.read(`PUT ${path}`, { timeout: 60 })).timeout).toBe(60);
    expect(await v4.faults("POST /managed/services")).toHaveLength(4);
    expect(await v4.faults(`PUT ${path}`, { credentials: [1] })).toEqual(["credentials"]);
  });
});
