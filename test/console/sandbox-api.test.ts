import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { RequestListener } from "node:http";
import request from "supertest";
import { request as requestApp, type TestResponse } from "../support/request.ts";
import { adminApp } from "../support/admin-app.ts";
import { createSandbox, type SandboxService } from "../../src/sandbox/create-sandbox.ts";
import { createMetrics } from "../../src/base/metrics/metrics.ts";

const metrics = createMetrics();
let sandbox: SandboxService;
let admin: RequestListener;

beforeEach(() => {
  sandbox = createSandbox({ instances: 3 });
  admin = adminOf(sandbox);
});
afterEach(() => metrics.close());

const adminOf = (embedded: SandboxService | undefined): RequestListener =>
  adminApp({ metrics, sandbox: embedded });

/** Sends a request to v4 itself. */
const v4 = (method: string, path: string, body?: object): Promise<TestResponse> =>
  requestApp(sandbox.listener, `${method} /v4${path}`, {
    headers: { authorization: `Bearer ${sandbox.tokens.full}` },
    body,
  });

const labelOf = async (id: number): Promise<unknown> => (await v4("GET", `/vm/instances/${id}`)).body.label;

describe("the sandbox API of the admin listener", () => {
  test("restores a saved state", async () => {
    const before = await labelOf(5201);
    const saved = await request(admin).get("/api/sandbox/state");
    expect(saved.headers["content-disposition"]).toBe("attachment; filename=sandbox.json");
    await v4("PUT", "/vm/instances/5201", { label: "renamed" });
    expect(await labelOf(5201)).toBe("renamed");

    expect((await request(admin).put("/api/sandbox/state").send(saved.body)).status).toBe(204);
    expect(await labelOf(5201)).toBe(before);
  });

  test.each([[{}], [[]], [{ version: 2 }], [{ version: 1, tables: { instance: 1 }, ahead: [] }]])(
    "rejects %j as a state with 400, and changes nothing",
    async (state) => {
      await v4("PUT", "/vm/instances/5201", { label: "renamed" });
      expect((await request(admin).put("/api/sandbox/state").send(state)).status).toBe(400);
      expect(await labelOf(5201)).toBe("renamed");
    },
  );

  test("resets all data to the seed", async () => {
    const { body } = await v4("POST", "/vm/instances", { region: "us-east", type: "g6-standard-1" });
    expect((await request(admin).post("/api/sandbox/reset")).status).toBe(204);
    expect((await v4("GET", `/vm/instances/${String(body["id"])}`)).status).toBe(404);
  });

  test("advances the clock, and events become due", async () => {
    const { body } = await v4("POST", "/vm/instances", {
      region: "us-east",
      type: "g6-standard-1",
      image: "vm/debian11",
      root_pass: "correct-Horse-7-battery",
    });
    expect(body["status"]).toBe("provisioning");
    const moved = await request(admin).post("/api/sandbox/clock").send({ advance_seconds: 600 });
    expect(moved.status).toBe(200);
    expect(Date.parse((moved.body as { now: string }).now)).toBeGreaterThan(Date.now() + 590_000);
    expect((await v4("GET", `/vm/instances/${String(body["id"])}`)).body["status"]).toBe("running");
  });

  test.each([undefined, -1, "60", 1e12, null])("rejects advance_seconds %j with 400", async (seconds) => {
    const response = await request(admin).post("/api/sandbox/clock").send({ advance_seconds: seconds });
    expect(response.status).toBe(400);
  });

  test("gets 404 if v4 is a real service", async () => {
    for (const path of ["/api/sandbox/state", "/api/sandbox/reset"])
      expect((await request(adminOf(undefined)).post(path)).status).toBe(404);
  });
});

describe("requests of a web page from another origin", () => {
  test.each(["http://evil.example", "null", "http://127.0.0.1:9999", "no origin"])(
    "are rejected from %s",
    async (origin) => {
      await v4("PUT", "/vm/instances/5201", { label: "renamed" });
      const response = await request(admin).post("/api/sandbox/reset").set("Origin", origin);
      expect(response.status).toBe(403);
      expect(await labelOf(5201)).toBe("renamed");
    },
  );

  test.each(["cross-site", "same-site", "Cross-Site"])(
    "are rejected without Origin if Sec-Fetch-Site is %s",
    async (site) => {
      await v4("PUT", "/vm/instances/5201", { label: "renamed" });
      const response = await request(admin).post("/api/sandbox/reset").set("Sec-Fetch-Site", site);
      expect(response.status).toBe(403);
      expect(await labelOf(5201)).toBe("renamed");
    },
  );

  test.each(["same-origin", "none"])("are accepted if Sec-Fetch-Site is %s", async (site) => {
    const response = await request(admin).post("/api/sandbox/reset").set("Sec-Fetch-Site", site);
    expect(response.status).toBe(204);
  });

  test("are accepted from the console itself", async () => {
    const response = await request(admin)
      .post("/api/sandbox/reset")
      .set({ Host: "localhost:8081", Origin: "http://localhost:8081" });
    expect(response.status).toBe(204);
  });
});
