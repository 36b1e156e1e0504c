/** The log has the settings and errors for operators, and never a secret. */
import { beforeEach, expect, test } from "@jest/globals";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Ended } from "./program.ts";

let v4: FakeV4;
beforeEach(async () => {
  v4 = await startFakeV4();
});

const PLANTED = {
  admin: "planted-admin-token",
  gateway: "planted-gateway-secret-of-32-bytes",
  redis: "planted-redis-password",
  token: "planted-client-token",
  password: "planted-Root-Pass-1",
  v4: "planted-password-of-v4",
};

type Line = Record<string, unknown>;

/** Runs a gateway with secrets everywhere, and without the Redis that they are for; gives it requests, and ends it. */
async function afterRequests(
  level: string,
  requests: (url: string, admin: string) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const gateway = await serve(temporaryFolder(), {
    env: {
      UPSTREAM_URL: v4.url,
      LOG_LEVEL: level,
      ADMIN_TOKEN: PLANTED.admin,
      GATEWAY_SECRET: PLANTED.gateway,
      REDIS_URL: `redis://gateway:${PLANTED.redis}@127.0.0.1:1/2`,
      ...env,
    },
  });
  await requests(gateway.url, gateway.admin);
  gateway.signal("SIGTERM");
  const ended = await gateway.ended;
  expect(ended.code).toBe(0);
  return ended;
}

const linesOf = ({ err }: Ended): Line[] =>
  err
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

async function ask(
  url: string,
  path: string,
  init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const response = await fetch(`${url}/v4${path}`, {
    ...init,
    headers: {
      authorization: `token ${PLANTED.token}`,
      "content-type": "application/json",
      "x-request-id": "the-request",
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
      ...init.headers,
    },
  });
  await response.arrayBuffer();
}

test("the log has settings with masked secrets, failed requests with all identifiers, no successful ones, and a code for a 503 of the admin listener", async () => {
  v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
  const ended = await afterRequests("info", async (url, admin) => {
    await ask(url, "/vm/instances");
    v4.respondWith(json(503, { errors: [{ reason: "no" }] }));
    await ask(url, "/vm/instances/5?x=1");
    const headers = { authorization: `Bearer ${PLANTED.admin}` };
    const response = await fetch(`${admin}/api/tokens`, { method: "DELETE", headers });
    expect(response.status).toBe(503);
  });
  const lines = linesOf(ended);

  expect(lines.find(({ settings }) => settings !== undefined)?.["settings"]).toMatchObject({
    ADMIN_TOKEN: "***",
    GATEWAY_SECRET: "***",
    REDIS_URL: "redis://***@127.0.0.1:1/2",
    RATE_LIMIT: "1600/120",
  });
  expect(ended.out).toContain("Setting   REDIS_URL=redis://***@127.0.0.1:1/2\n");
  expect(ended.out).not.toContain("RATE_LIMIT");

  expect(lines.filter(({ msg }) => msg === "request")).toEqual([
    expect.objectContaining({
      level: 50,
      code: "AG_REQUEST_FAILED",
      requestId: "the-request",
      trace: TRACE,
      lane: "alpha",
      method: "GET",
      route: "GET /vm/instances/:id",
      status: 500,
      v4: [503],
      warnings: ["v4 responded with 503"],
    }),
  ]);

  expect(lines).toContainEqual(
    expect.objectContaining({ level: 50, code: "AG_ADMIN_REQUEST_FAILED", err: expect.any(Object) }),
  );
}, 60_000);

test.each([{}, { AUDIT: "off" }])(
  "no log level contains a secret of a setting, a token, a body or a v4 response: %j",
  async (env) => {
    const requests = async (url: string): Promise<void> => {
      const body = JSON.stringify({ label: "a", root_pass: PLANTED.password, password: PLANTED.password });
      for (const status of [200, 400, 500]) {
        v4.respondWith(json(status, { data: [], password: PLANTED.v4, errors: [{ reason: PLANTED.v4 }] }));
        await ask(url, "/vm/instances", { method: "POST", body });
        await ask(url, `/vm/instances?password=${PLANTED.password}`);
        for (const authorization of [`token ${PLANTED.token}`, `Bearer ${PLANTED.token}`])
          await ask(url, "/vm/instances", { headers: { authorization, "x-request-id": PLANTED.token } });
        await ask(url, `/vm/instances/5/rebuild?token=${PLANTED.password}`, { method: "POST", body });
      }
      v4.respondWith((_call, response) => void response.destroy());
      await ask(url, "/vm/instances", { method: "POST", body });
      await ask(url, "/nowhere", { method: "POST", body: `{"root_pass":"${PLANTED.password}` });
    };
    const ended = await afterRequests("trace", requests, env);

    expect(linesOf(ended).length).toBeGreaterThan(10);
    const result = ended.out + ended.err;
    expect(Object.values(PLANTED).filter((secret) => result.includes(secret))).toEqual([]);
  },
  60_000,
);

test("a request that fails because its record could not be stored is logged as such", async () => {
  v4.respondWith(json(200, envelope([])));
  const away = { AUDIT_DURABILITY: "strict", DATABASE_URL: "postgres://127.0.0.1:1/nowhere" };
  const ended = await afterRequests("warn", (url) => ask(url, "/vm/instances"), away);
  expect(linesOf(ended)).toContainEqual(
    expect.objectContaining({ level: 50, code: "AG_AUDIT_RECORD_LOST", requestId: "the-request" }),
  );
  expect(ended.err).not.toContain("AG_UNEXPECTED_ERROR");
});
