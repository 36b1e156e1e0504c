import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { readAuditRecords } from "../../support/audit-records.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { readOnly, startFaultProxy } from "../../support/fault-proxy.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { waitFor } from "../../support/wait-for.ts";
import { waitUntilClosed, serve, type Serving } from "./program.ts";

/** A quarter of it passes before the listener closes, and the rest is for requests in flight. */
const GRACE = { SHUTDOWN_GRACE_MS: "4000" };

let v4: FakeV4;
/** Responses that v4 holds back. */
let held: (() => void)[];
let folder: string;

const EMPTY_LIST = json(200, envelope([]));

beforeEach(async () => {
  v4 = await startFakeV4();
  held = [];
  v4.respondWith((call, response) => void held.push(() => void EMPTY_LIST(call, response)));
  folder = temporaryFolder();
});

const waitForRequests = (count: number) => waitFor(() => held.length >= count);

function respondToAll(): void {
  for (const respond of held.splice(0)) respond();
}

const start = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  serve(folder, { env: { UPSTREAM_URL: v4.url, ...GRACE, ...env } });

const ask = (url: string, scheme = "token"): Promise<Response> =>
  fetch(`${url}/v4/vm/instances`, { headers: { authorization: `${scheme} abc` } });

/** Its rejection must be expected before it comes. */
const outcomeOf = (response: Promise<Response>): Promise<string> =>
  response.then(
    () => "completed",
    () => "broken off",
  );

/** The records of the audit store after the process has ended. */
const records = (): Promise<AuditRecord[]> => readAuditRecords({ folder });

/** The process handles a signal a moment after it is sent. */
async function drains(admin: string): Promise<unknown> {
  for (;;) {
    const response = await fetch(`${admin}/readyz`);
    if (response.status === 503) return response.json();
    await response.text();
    await wait(10);
  }
}

test.each([
  ["SIGTERM", "token"],
  ["SIGINT", "Bearer"],
] as const)(
  "a shutdown by %s finishes an in-flight request of %s, and accepts no other",
  async (signal, scheme) => {
    const gateway = await start();
    const inFlight = ask(gateway.url, scheme);
    await waitForRequests(1);
    gateway.signal(signal);

    expect(await drains(gateway.admin)).toEqual({ status: "not ready", reasons: ["draining"] });
    await waitUntilClosed(gateway.url);
    respondToAll();
    expect((await inFlight).status).toBe(200);

    expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
    expect(await records()).toMatchObject([
      { lane: scheme === "token" ? "alpha" : "native", alpha: { status: 200 } },
    ]);
  },
);

describe("connections that are open at a shutdown", () => {
  const ASK = "GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n";

  /** One that was used, and one that was not. */
  async function connectTo({ url }: Serving): Promise<{ used: RawClient; unused: RawClient }> {
    const [used, unused] = [await openRawClient(url), await openRawClient(url)];
    used.send(ASK);
    await used.waitForResponses(1);
    return { used, unused };
  }

  test("do not delay the exit", async () => {
    const gateway = await start();
    const { used, unused } = await connectTo(gateway);
    gateway.signal("SIGTERM");
    await Promise.all([used.waitForEnd(), unused.waitForEnd()]);

    expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
  });

  test("serve one more request, and so does a new one; the responses have Connection: close", async () => {
    const gateway = await start({ SHUTDOWN_GRACE_MS: "60000" });
    const { used, unused } = await connectTo(gateway);
    gateway.signal("SIGTERM");
    await drains(gateway.admin);
    const clients = [used, unused, await openRawClient(gateway.url)];
    for (const client of clients) client.send(ASK + ASK);

    const received = await Promise.all(clients.map((client) => client.waitForEnd()));
    expect(received.map((text) => text.match(/^connection: .*/gim))).toEqual([
      ["Connection: keep-alive", "Connection: close"],
      ["Connection: close"],
      ["Connection: close"],
    ]);
    expect(received.map((text) => text.match(/HTTP\/1.1 404/g)?.length)).toEqual([2, 1, 1]);
    gateway.signal("SIGKILL");
  });

  test("finish their responses in flight, the last with Connection: close", async () => {
    const gateway = await start();
    const client = await openRawClient(gateway.url);
    const ask = (token: string): void =>
      client.send(`GET /v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: token ${token}\r\n\r\n`);
    ask("one");
    ask("two");
    await waitForRequests(2);
    gateway.signal("SIGTERM");
    await drains(gateway.admin);
    respondToAll();

    const received = await client.waitForEnd();
    expect(received.match(/HTTP\/1.1 200/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
    expect(received.match(/^connection: .*/gim)).toEqual(["Connection: keep-alive", "Connection: close"]);
    expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
  });
});

test.each(["token", "Bearer"])("a request of %s is aborted when the grace period is over", async (scheme) => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: "200" });
  const inFlight = ask(gateway.url, scheme);
  const outcome = outcomeOf(inFlight);
  await waitForRequests(1);
  gateway.signal("SIGTERM");

  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
  expect(await outcome).toBe("broken off");
  expect(await records()).toHaveLength(1);
});

test.each([
  ["SIGTERM", "SIGINT", 130],
  ["SIGINT", "SIGTERM", 143],
] as const)("%s and then %s exits at once", async (first, second, code) => {
  const gateway = await start();
  const inFlight = ask(gateway.url);
  const outcome = outcomeOf(inFlight);
  await waitForRequests(1);
  gateway.signal(first);
  await drains(gateway.admin);
  await wait(600);
  gateway.signal(second);

  expect(await gateway.ended).toMatchObject({ code });
  expect(await outcome).toBe("broken off");
});

test("a signal that arrives twice within a moment, as from a terminal through npm, counts once", async () => {
  const gateway = await start();
  const inFlight = ask(gateway.url);
  await waitForRequests(1);
  gateway.signal("SIGINT");
  await drains(gateway.admin);
  gateway.signal("SIGINT");
  respondToAll();

  expect((await inFlight).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
});

test("an unresponsive v4 delays neither the start nor the exit", async () => {
  const silent = await startFaultProxy(v4.url);
  await silent.setFault(readOnly);
  const gateway = await start({ UPSTREAM_URL: `http://127.0.0.1:${silent.port}` });
  expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(503);
  gateway.signal("SIGTERM");

  expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
});
