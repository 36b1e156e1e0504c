/** One stranger with made-up tokens at the old service: only what the old service has served makes a client. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { AuditPage } from "../../../src/audit/store/store.ts";
import type { ClientUsage } from "../../../src/audit/usage/usage.ts";
import { createGateway, type Gateway } from "../../../src/index.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { waitFor } from "../../support/wait-for.ts";

let old: FakeV4;
let gateway: Gateway;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  old = await startFakeV4();
  // The old service looks for the path first, and for the token only on a path that it has.
  old.respondWith((received, response) => {
    const [, status = "200"] = /^\/status\/(\d+)/.exec(received.path) ?? [];
    json(Number(status), { id: 1 })(received, response);
  });
  const ignore = (): void => {};
  gateway = createGateway({
    legacyUrl: old.url,
    port: 0,
    adminPort: 0,
    dataDir: folder,
    logger: {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: ignore,
      fatal: ignore,
      isLevelEnabled: () => false,
    },
  });
  await gateway.start();
});
afterEach(async () => {
  await gateway.stop();
});

async function send(path: string, token: string, body?: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body };
  await (await fetch(`${gateway.url}${path}`, { headers, ...sent, redirect: "manual" })).text();
}

async function sendAll(count: number, path: string): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  while (numbers.length > 0)
    await Promise.all(numbers.splice(0, 20).map((n) => send(path, `made-up-token-${n}`)));
}

const readAdmin = async <T>(path: string): Promise<T> =>
  (await (await fetch(`${gateway.adminUrl}${path}`)).json()) as T;

/** The keys of all counted clients, once so many requests are counted. */
async function clientsAfter(requests: number): Promise<(string | null)[]> {
  let clients: readonly ClientUsage[] = [];
  await waitFor(async () => {
    ({ clients } = await readAdmin<{ clients: readonly ClientUsage[] }>("/api/usage/clients"));
    return clients.reduce((sum, each) => sum + each.requests, 0) === requests;
  });
  return clients.map(({ client }) => client);
}

test.each([8, 800])("%d made-up tokens on a path that gives 404 are no clients", async (count) => {
  await sendAll(count, "/status/404");
  expect(await clientsAfter(count)).toEqual(["unaccepted"]);
});

describe("a made-up token is no client", () => {
  test.each([400, 403, 405, 429, 500])("after the status %d", async (status) => {
    await send(`/status/${status}`, "made-up-token");
    expect(await clientsAfter(1)).toEqual(["unaccepted"]);
  });
});

describe("a client", () => {
  test.each([200, 204, 302])("is known by the status %d", async (status) => {
    await send(`/status/${status}`, "token-of-a-client");
    expect(await clientsAfter(1)).not.toContain("unaccepted");
  });

  test("that was served keeps what it sends in records of refusals, and a stranger's is cut", async () => {
    await send("/status/200", "token-of-a-client");
    const body = JSON.stringify({ text: "x".repeat(2000) });
    for (const token of ["token-of-a-client", "made-up-token"]) await send("/status/422", token, body);
    await clientsAfter(3);
    const { records } = await readAdmin<AuditPage>("/api/audit?status=422");
    expect(records.map(({ client, alpha }) => [client.accepted, alpha.body !== undefined])).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});
