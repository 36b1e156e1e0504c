/** One of two gateways stops while clients create objects through a load balancer: no create is lost or repeated. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { describeWith } from "../../support/services.ts";
import { startBalancer, type Balancer } from "./balancer.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, DEFAULT_GRACE, type Serving } from "./program.ts";

const describe = await describeWith("haproxy");

describe("behind haproxy", () => {
  let v4: FakeV4;
  let gateways: [Serving, Serving];
  let balancer: Balancer;

  const start = (): Promise<Serving> =>
    serve(temporaryFolder(), {
      env: {
        UPSTREAM_URL: v4.url,
        RATE_LIMIT: "1000000/1",
        RATE_LIMIT_CREATE: "1000000/1",
        TRUST_PROXY: "127.0.0.1",
        ...DEFAULT_GRACE,
      },
    });

  beforeEach(async () => {
    v4 = await startFakeV4();
    v4.respondWith(json(200, { id: 7, region: "us-east", image: null, type: null }));
    gateways = await Promise.all([start(), start()]);
    balancer = await startBalancer(gateways);
    while ((await create("Bearer", "first").catch(() => 0)) !== 200) await wait(50);
    v4.calls.length = 0;
  }, 60_000);

  afterEach(async () => {
    await balancer.stop();
  });

  async function create(scheme: string, label: string): Promise<number> {
    const response = await fetch(`${balancer.url}/v4/vm/instances`, {
      method: "POST",
      headers: { authorization: `${scheme} abc`, "content-type": "application/json" },
      body: JSON.stringify({ label, type: "g6-standard-1", datacenter: "newark" }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  const labelsMade = (): string[] =>
    v4.calls
      .filter(({ method }) => method === "POST")
      .map((call) => (call.json() as { label: string }).label);

  test("SIGTERM to one gateway loses no POST of token or Bearer, and sends none twice", async () => {
    const sent: string[] = [];
    const statuses: number[] = [];
    const over = new AbortController();
    const clients = Array.from({ length: 6 }, async (_, client) => {
      while (!over.signal.aborted) {
        const label = `web${sent.length}x`;
        sent.push(label);
        statuses.push(await create(client % 2 === 0 ? "token" : "Bearer", label).catch(() => 0));
        await wait(10);
      }
    });
    const more = async (count: number): Promise<void> => {
      const enough = statuses.length + count;
      while (statuses.length < enough) await wait(20);
    };

    await more(60);
    gateways[0].signal("SIGTERM");
    expect(await gateways[0].ended).toMatchObject({ code: 0, signal: null, err: "" });
    await more(60);
    over.abort();
    await Promise.all(clients);

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(labelsMade().toSorted()).toEqual(sent.toSorted());
  }, 60_000);
});
