import { beforeEach, describe, expect, test } from "@jest/globals";
import type { SandboxResponse, TestSandbox } from "./sandbox-service.ts";
import { createTestSandbox, webServer } from "./sandbox-service.ts";

let service: TestSandbox;

function limitHeaders({ headers }: SandboxResponse): unknown[] {
  return ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
}

describe("the general limit", () => {
  beforeEach(async () => {
    service = createTestSandbox({ rateLimit: { limit: 3, seconds: 120 } });
  });

  test("counts down, returns 429 with Retry-After, and starts a new window", async () => {
    const reset = service.clock.now() / 1000 + 120;
    for (const left of [2, 1, 0]) {
      expect(limitHeaders(await service.request("GET /profile"))).toEqual([3, left, reset]);
    }
    service.clock.advance(20_000);
    const refused = await service.request("GET /profile");
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ errors: [{ reason: expect.any(String) }] });
    expect(refused.headers.get("retry-after")).toBe("100");
    expect(limitHeaders(refused)).toEqual([3, 0, reset]);
    service.clock.advance(100_000);
    expect((await service.request("GET /profile")).status).toBe(200);
  });

  test("is shared by all tokens of a user, and separate for users", async () => {
    for (const as of ["full", "readOnly", "none"] as const) {
      expect((await service.request("GET /profile", { as })).status).toBe(200);
    }
    expect((await service.request("GET /profile", { as: "vms" })).status).toBe(429);
    expect((await service.request("GET /profile", { as: "other" })).status).toBe(200);
    expect((await service.request("GET /regions", { as: "anonymous" })).status).toBe(200);
  });
});

describe("the default limits", () => {
  beforeEach(async () => {
    service = createTestSandbox();
  });

  test("are 1600 in 120 seconds", async () => {
    expect(limitHeaders(await service.request("GET /regions"))[0]).toBe(1600);
  });

  test("V-161 V-193 reject the 11th create in 30 seconds with 429, not another user's", async () => {
    for (let count = 1; count <= 10; count += 1) {
      const response = await service.request("POST /vm/instances", { body: webServer });
      expect([response.status, limitHeaders(response)[1]]).toEqual([200, 10 - count]);
    }
    const refused = await service.request("POST /vm/instances", { body: webServer, as: "vms" });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect((await service.request("POST /vm/instances", { body: webServer, as: "other" })).status).toBe(200);
    expect((await service.request("GET /vm/instances")).status).toBe(200);
    service.clock.advance(30_000);
    expect((await service.request("POST /vm/instances", { body: webServer })).status).toBe(200);
  });
});
