/** The losses of records, and what counts them, for each setting of the audit. */
import { afterEach, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";

const LOSS = "status: edit_mode and has_errors are shown as disabled";

let gateway: GatewayWithFakeV4;
afterEach(() => gateway.stop());

/** Reads one zone whose status alpha has no word for, and one with a status of alpha. */
async function readZones(): Promise<void> {
  for (const status of ["has_errors", "active"]) {
    gateway.v4.respondWith(json(200, { id: 7010, status }, { "x-oauth-scopes": "*" }));
    const response = await gateway.request("GET /dns/zones/7010", { as: "token-1234" });
    expect(response.body.status).toBe(status === "active" ? "active" : "disabled");
  }
}

async function countLossy(): Promise<number> {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return Number(/^alpha_gateway_losses_total\{route="GET \/dns\/zones\/:id"\} (\d+)$/m.exec(text)?.[1]);
}

test.each(["full", "metadata"])(
  "with AUDIT=%s only the request that lost something has the loss",
  async (AUDIT) => {
    gateway = await startGatewayWithFakeV4({ AUDIT });
    await readZones();
    const { body } = await gateway.requestAdmin("GET /api/audit");
    expect(body.records.map(({ losses }: { losses: unknown }) => losses)).toEqual([[], [LOSS]]);
    expect(await countLossy()).toBe(1);
    const usage = await gateway.requestAdmin("GET /api/usage/routes");
    expect(usage.body.routes).toMatchObject([{ route: "GET /dns/zones/:id", requests: 2, lossy: 1 }]);
    const report = await gateway.requestAdmin("GET /api/report");
    expect(report.body.totals).toMatchObject({ requests: 2, lossy: 1 });
  },
);

test("with AUDIT=off the metric counts the same", async () => {
  gateway = await startGatewayWithFakeV4({ AUDIT: "off" });
  await readZones();
  expect(await countLossy()).toBe(1);
});
