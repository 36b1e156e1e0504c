import { beforeEach, describe, expect, test } from "@jest/globals";
import { createTestSandbox, webServer, type SandboxResponse, type TestSandbox } from "./sandbox-service.ts";

let v4: TestSandbox;

function limitHeaders({ headers }: SandboxResponse): unknown[] {
  return ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
}

describe("the general limit", () => {
  beforeEach(async () => {
    v4 = createTestSandbox({ rateLimit: { limit: 3, seconds: 120 } });
  });

  test("counts down, returns 429 with Retry-After, and starts a new window", async () => {
    const reset = v4.clock.now() / 1000 + 120;
    for (const left of [2, 1, 0]) {
      expect(limitHeaders(await v4.ask("GET /profile"))).toEqual([3, left, reset]);
    }
    v4.clock.advance(20_000);
    const refused = await v4.ask("GET /profile");
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ errors: [{ reason: expect.any(String) }] });
    expect(refused.headers.get("retry-after")).toBe("100");
    expect(limitHeaders(refused)).toEqual([3, 0, reset]);
    v4.clock.advance(100_000);
    expect(await v4.status("GET /profile")).toBe(200);
  });

  test("is shared by all tokens of a user, and separate for users", async () => {
    for (const as of ["full", "readOnly", "none"] as const) {
      expect(await v4.as(as).status("GET /profile")).toBe(200);
    }
    expect(await v4.as("vms").status("GET /profile")).toBe(429);
    expect(await v4.as("other").status("GET /profile")).toBe(200);
    expect(await v4.as("anonymous").status("GET /regions")).toBe(200);
  });
});

describe("the default limits", () => {
  beforeEach(async () => {
    v4 = createTestSandbox();
  });

  test("are 1600 in 120 seconds", async () => {
    expect(limitHeaders(await v4.ask("GET /regions"))[0]).toBe(1600);
  });

  test("V-161 V-193 reject the 11th create in 30 seconds with 429, not another user's", async () => {
    for (let count = 1; count <= 10; count += 1) {
      const response = await v4.ask("POST /vm/instances", webServer);
      expect([response.status, limitHeaders(response)[1]]).toEqual([200, 10 - count]);
    }
    const refused = await v4.as("vms").ask("POST /vm/instances", webServer);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await v4.as("other").status("POST /vm/instances", webServer)).toBe(200);
    expect(await v4.status("GET /vm/instances")).toBe(200);
    v4.clock.advance(30_000);
    expect(await v4.status("POST /vm/instances", webServer)).toBe(200);
  });
});
