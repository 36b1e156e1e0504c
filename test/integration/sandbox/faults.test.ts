import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxService } from "./sandbox-service.ts";
import { startSandboxService } from "./sandbox-service.ts";

let service: SandboxService;
beforeAll(async () => {
  service = await startSandboxService();
});
afterAll(() => service.close());

function send(fault: string, method = "GET", path = "/vm/instances/5201"): Promise<Response> {
  const headers = { authorization: `Bearer ${service.sandbox.tokens.full}`, "x-sandbox-fault": fault };
  const body = method === "GET" ? {} : { body: JSON.stringify({ label: "changed" }) };
  return fetch(`${service.sandbox.url}/v4${path}`, { method, headers, ...body });
}

describe("X-Sandbox-Fault", () => {
  test("V-186 V-194 503 returns an error and executes nothing", async () => {
    const answer = await send("503", "PUT");
    expect([answer.status, await answer.json()]).toEqual([503, { errors: [{ reason: expect.any(String) }] }]);
    expect((await service.request("GET /vm/instances/5201")).body["label"]).not.toBe("changed");
  });

  test("garbage returns 200 with invalid JSON", async () => {
    const answer = await send("garbage");
    expect(answer.status).toBe(200);
    await expect(answer.json()).rejects.toThrow("in JSON");
  });

  test("is left alone on a request without a token that the sandbox knows", async () => {
    for (const authorization of ["Bearer madeup", "", `token ${service.sandbox.tokens.full}`]) {
      const headers = { authorization, "x-sandbox-fault": "503" };
      expect((await fetch(`${service.sandbox.url}/v4/profile`, { headers })).status).toBe(401);
    }
  });

  test("reset closes the connection without a response", async () => {
    await expect(send("reset")).rejects.toThrow("fetch failed");
  });

  test("delay postpones any response", async () => {
    expect((await send("delay=20")).status).toBe(200);
    expect((await send("delay=20, 503")).status).toBe(503);
    let answered = false;
    const late = send("delay=60000").then(
      () => (answered = true),
      () => "the service went away",
    );
    await send("delay=20");
    expect(answered).toBe(false);
    await service.close();
    expect(await late).toBe("the service went away");
    service = await startSandboxService();
  });

  test.each(["", "504", "delay=x", "delay=-1", "everything"])(
    "%j is 400 and says what there is",
    async (fault) => {
      const answer = await send(fault);
      expect([answer.status, JSON.stringify(await answer.json())]).toEqual([
        400,
        expect.stringContaining("delay=1500"),
      ]);
    },
  );
});
