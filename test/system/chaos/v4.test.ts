/** Faults of the connection to v4: the client gets an error, nothing leaks, and the gateway recovers automatically. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { forward, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { startListeningGateway, type ListeningGateway, type TestResponse } from "../../support/gateway.ts";
import { V4_FAULTS } from "./v4-faults.ts";

const CONNECTIONS = 4;
const CREATE = { body: { datacenter: "newark", type: "g6-standard-1", label: "web-one" } };

let v4: FakeV4;
let proxy: FaultProxy;
let gateway: ListeningGateway;
let settled: number;
const read = (): Promise<TestResponse> => gateway.request("GET /vm/instances");

beforeAll(async () => {
  v4 = await startFakeV4();
  v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  proxy = await startFaultProxy(v4.url);
  gateway = await startListeningGateway({
    AUDIT: "full",
    UPSTREAM_URL: `http://127.0.0.1:${proxy.port}`,
    UPSTREAM_TIMEOUT_MS: "500",
    UPSTREAM_CONNECTIONS: String(CONNECTIONS),
  });
  await read();
  settled = resources();
});

/** What keeps this process, the gateway's and the test's, busy: sockets and timers. */
const resources = (): number =>
  process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|Pipe/.test(name)).length;

/** Nothing of v4's words, addresses or headers gets through. */
function expectNoLeak({ text, headers, body }: TestResponse): void {
  expect(text).not.toMatch(/nginx|SSH|127\.0\.0\.1|UND_ERR|ECONN|HPE_/);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("location")).toBeNull();
  expect(body.errors).toEqual([{ reason: expect.any(String) }]);
}

describe("a v4 that", () => {
  test.each(V4_FAULTS)(
    "$name: $read for a read, $create for a create, and 200 when it is over",
    async (row) => {
      await proxy.setFault(row.fault);
      const before = proxy.countConnections();
      const response = await read();
      expect(response.status).toBe(row.read);
      expectNoLeak(response);
      expect(proxy.countConnections() - before).toBe(row.tries);
      const asked = proxy.countConnections();
      const created = await gateway.request("POST /vm/instances", CREATE);
      expect(created.status).toBe(row.create);
      expectNoLeak(created);
      expect(proxy.countConnections() - asked).toBeLessThanOrEqual(1);

      await proxy.setFault(forward);
      await waitFor(async () => (await read()).status === 200);
      // More responses than failures: otherwise the circuit would be open in the rows that follow.
      await Promise.all([1, 2, 3].map(read));
      expect(proxy.countOpenConnections()).toBeLessThanOrEqual(CONNECTIONS);
      await waitFor(() => resources() <= settled + 4 * CONNECTIONS);
    },
  );
});
