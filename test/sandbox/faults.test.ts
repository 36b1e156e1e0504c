import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startSandbox, type Sandbox } from "../../src/sandbox/create-sandbox.ts";
import { request, type TestResponse } from "../support/request.ts";

/** It listens: faults break and delay connections. */
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const authorization = (): string => `Bearer ${sandbox.tokens.full}`;

const send = (fault: string, method = "GET"): Promise<TestResponse> =>
  request(sandbox.url, `${method} /v4/vm/instances/5201`, {
    headers: { authorization: authorization(), "x-sandbox-fault": fault },
    ...(method !== "GET" && { body: { label: "changed" } }),
  });

describe("X-Sandbox-Fault", () => {
  test("V-186 V-194 503 returns an error and executes nothing", async () => {
    const { status, body } = await send("503", "PUT");
    expect([status, body]).toEqual([503, { errors: [{ reason: expect.any(String) }] }]);
    const headers = { authorization: authorization() };
    const instance = await request(sandbox.url, "GET /v4/vm/instances/5201", { headers });
    expect(instance.body.label).not.toBe("changed");
  });

  test("garbage returns 200 with invalid JSON", async () => {
    const { status, text } = await send("garbage");
    expect(status).toBe(200);
    expect(() => JSON.parse(text)).toThrow("in JSON");
  });

  test("is ignored without a valid token", async () => {
    for (const credentials of ["Bearer madeup", "", `token ${sandbox.tokens.full}`]) {
      const headers = { authorization: credentials, "x-sandbox-fault": "503" };
      expect((await request(sandbox.url, "GET /v4/profile", { headers })).status).toBe(401);
    }
  });

  test("reset closes the connection without a response", async () => {
    await expect(send("reset")).rejects.toThrow("socket hang up");
  });

  test("delay postpones any response", async () => {
    expect((await send("delay=20")).status).toBe(200);
    expect((await send("delay=20, 503")).status).toBe(503);
    let responded = false;
    const late = send("delay=60000").then(
      () => (responded = true),
      () => "the service went away",
    );
    await send("delay=20");
    expect(responded).toBe(false);
    await sandbox.close();
    expect(await late).toBe("the service went away");
    sandbox = await startSandbox();
  });

  test.each(["", "504", "delay=x", "delay=-1", "everything"])(
    "%j gets 400 with the valid values",
    async (fault) => {
      const { status, text } = await send(fault);
      expect([status, text]).toEqual([400, expect.stringContaining("delay=1500")]);
    },
  );
});
