/** Scheduled brown-outs, as clients and operators meet them. */
import { afterEach, expect, test } from "@jest/globals";
import { readEnvironment } from "../../../src/config/settings.ts";
import { startService } from "../../../src/app/start.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";

const ALWAYS = "* * * * * for 2m";
let gateway: Gateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

test("a brown-out gives alpha requests 500 with the end of the window, without a v4 request", async () => {
  gateway = await startGateway({
    BROWN_OUTS: ALWAYS,
    SUNSET_DATE: "2027-06-30",
    DEPRECATION_DATE: "2026-01-01",
  });
  gateway.takeV4Requests();
  const response = await gateway.request("GET /vm/instances");
  expect(response.status).toBe(500);
  expect(response.body).toEqual({
    errors: [{ reason: expect.stringMatching(/available again at 20\d\d-.*Z\.$/) }],
  });
  expect(gateway.takeV4Requests()).toEqual([]);
  for (const name of ["sunset", "deprecation", "x-ratelimit-remaining", "x-request-id"])
    expect(response.headers.get(name)).not.toBeNull();
});

test("a brown-out is recorded with its route, and counted", async () => {
  gateway = await startGateway({ BROWN_OUTS: ALWAYS });
  await gateway.request("GET /vm/instances");
  const [record] = await gateway.readAudit();
  expect(record).toMatchObject({ alpha: { route: "GET /vm/instances", status: 500 }, v4: [] });
  expect(record.warnings).toEqual([expect.stringMatching(/^brown-out until /)]);
  const metrics = (await gateway.requestAdmin("GET /metrics")).text;
  expect(metrics).toContain('alpha_gateway_refusals_total{reason="brown_out",status="500"} 1');
  const planned = (await gateway.requestAdmin("GET /api/brown-outs")).body;
  expect(planned).toEqual({ windows: [expect.objectContaining({ text: ALWAYS, open: true })] });
});

test("a brown-out does not affect other routes and native requests", async () => {
  gateway = await startGateway({ BROWN_OUTS: `${ALWAYS}; routes=GET /vm/instances` });
  expect((await gateway.request("GET /vm/instances")).status).toBe(500);
  expect((await gateway.request("GET /datacenters")).status).toBe(200);
  expect((await gateway.request("GET /nothing")).status).toBe(404);
  const authorization = `Bearer ${gateway.sandbox.tokens.full}`;
  expect((await gateway.request("GET /vm/instances", { as: null, headers: { authorization } })).status).toBe(
    200,
  );
});

test("a brown-out for an unknown route prevents the start", async () => {
  const settings = readEnvironment({
    BROWN_OUTS: `${ALWAYS}; routes=GET /vm/instnaces`,
    PORT: "0",
    ADMIN_PORT: "0",
  });
  await expect(startService(settings)).rejects.toThrow(
    'BROWN_OUTS: the pack has no route "GET /vm/instnaces"',
  );
});
