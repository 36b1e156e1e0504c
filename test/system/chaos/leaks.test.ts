/** After all that can go wrong a process holds no more than before: no socket, no descriptor, no heap of requests. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { beforeAll, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "../e2e/program.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { forward, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { startLoad } from "./load.ts";
import { V4_FAULTS } from "./v4-faults.ts";

const LONG = 120_000;
const MB = 1024 * 1024;
/** Requests that get a response while v4 has a fault. */
const ENOUGH = 40;
/** The growth that a process may have: its stores open and close files, and memory is released late. */
const MORE = { descriptors: 5, bytes: 100 * MB };

let v4: FakeV4;
let proxy: FaultProxy;
let gateway: Serving;
beforeAll(async () => {
  v4 = await startFakeV4();
  v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  proxy = await startFaultProxy(v4.url);
  gateway = await serve(temporaryFolder(), {
    env: {
      UPSTREAM_URL: `http://127.0.0.1:${proxy.port}`,
      UPSTREAM_TIMEOUT_MS: "200",
      RATE_LIMIT: "1000000/1",
      LOG_LEVEL: "silent",
    },
  });
}, LONG);

interface Held {
  readonly descriptors: number;
  readonly sockets: number;
  readonly bytes: number;
}

function held(): Held {
  const folder = `/proc/${gateway.pid}/fd`;
  const links = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      return "";
    }
  });
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8")) ?? [];
  return {
    descriptors: links.length,
    sockets: links.filter((link) => link.startsWith("socket:")).length,
    bytes: Number(kilobytes) * 1024,
  };
}

const ask = async (): Promise<number> => {
  // A connection for each request, since client connections are not counted.
  const headers = { authorization: "token good", connection: "close" };
  const response = await fetch(`${gateway.url}/v4/vm/instances`, { headers });
  await response.arrayBuffer();
  return response.status;
};

/** Idle connections are closed after seconds. Then none is left. */
const noneIsLeft = (): Promise<boolean> => waitFor(() => proxy.countOpenConnections() === 0);

test(
  "every fault of v4 under load leaves no connection, no descriptor and no memory behind",
  async () => {
    const warm = startLoad(ask, 8);
    await warm.waitForMore(ENOUGH);
    await warm.end();
    await noneIsLeft();
    const before = held();
    for (const { fault } of V4_FAULTS) {
      await proxy.setFault(fault);
      const load = startLoad(ask, 8);
      await load.waitForMore(ENOUGH);
      await proxy.setFault(forward);
      await load.waitForMore(ENOUGH);
      const statuses = await load.end();
      expect([200, 420, 500]).toEqual(expect.arrayContaining([...statuses]));
    }
    while ((await ask()) !== 200);
    await noneIsLeft();
    await waitFor(() => held().sockets <= before.sockets);
    const after = held();
    expect(after.descriptors - before.descriptors).toBeLessThanOrEqual(MORE.descriptors);
    expect(after.bytes - before.bytes).toBeLessThan(MORE.bytes);
  },
  LONG,
);
