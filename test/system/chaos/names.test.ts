/** v4's host name does not resolve, at the start or later: the gateway serves from caches and recovers automatically. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "../e2e/program.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { forward, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { describeWith } from "../../support/services.ts";
import { waitForReadiness } from "./admin-client.ts";

// In a file system of its own, where `/etc/hosts` is the test's.
const describe = await describeWith("mount");
const LONG = 60_000;
const NAME = "v4.test";

let v4: FakeV4;
let proxy: FaultProxy;
let hosts: string;
let within: readonly string[];
beforeEach(async () => {
  v4 = await startFakeV4();
  v4.respondWith(json(200, envelope([])));
  proxy = await startFaultProxy(v4.url);
  const folder = temporaryFolder();
  hosts = join(folder, "hosts");
  const resolver = join(folder, "resolv.conf");
  // An address that refuses connections at once.
  writeFileSync(resolver, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  resolves(true);
  const mounts = 'mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';
  within = ["unshare", "--mount", "sh", "-c", mounts, hosts, resolver];
});

function resolves(known: boolean): void {
  writeFileSync(hosts, `127.0.0.1 localhost\n${known ? `127.0.0.1 ${NAME}\n` : ""}`);
}

const start = (): Promise<Serving> =>
  serve(temporaryFolder(), {
    within,
    env: { UPSTREAM_URL: `http://${NAME}:${proxy.port}`, ALLOW_HTTP_UPSTREAM: "true" },
  });

async function ask({ url }: Serving, method = "GET"): Promise<{ status: number; text: string }> {
  const path = method === "GET" ? "/v4/vm/instances" : "/v4/vm/instances/7/shutdown";
  const response = await fetch(url + path, { method, headers: { authorization: "token good" } });
  return { status: response.status, text: await response.text() };
}

/** Expects neither the host name nor the resolver's error in a response. */
function expectNoLeak({ status, text }: { status: number; text: string }): void {
  expect(status).toBe(500);
  expect(JSON.parse(text)).toEqual({ errors: [{ reason: expect.stringMatching(/^The service could not/) }] });
  expect(text).not.toMatch(/v4\.test|ENOTFOUND|EAI_|getaddrinfo/);
}

async function recovers(gateway: Serving): Promise<void> {
  resolves(true);
  expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
  while ((await ask(gateway)).status !== 200);
  expect((await ask(gateway, "POST")).status).toBe(200);
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
}

describe("a host name of v4 that does not resolve", () => {
  test(
    "at the start: gives 500 and is not ready, until it resolves",
    async () => {
      resolves(false);
      const gateway = await start();
      expect(await waitForReadiness(gateway.admin, 503)).toContainEqual(expect.stringMatching(/^catalog /));
      expectNoLeak(await ask(gateway));
      expectNoLeak(await ask(gateway, "POST"));
      await recovers(gateway);
    },
    LONG,
  );

  test(
    "later: open connections are used, and 500 without one, until it resolves",
    async () => {
      const gateway = await start();
      expect((await ask(gateway)).status).toBe(200);
      resolves(false);
      expect((await ask(gateway)).status).toBe(200);
      // Ends the connections.
      await proxy.setFault(forward);
      expectNoLeak(await ask(gateway));
      expectNoLeak(await ask(gateway, "POST"));
      await recovers(gateway);
    },
    LONG,
  );
});
