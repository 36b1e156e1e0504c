/** The alerts of an instance. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { createInstance, errorOn, type Json } from "./helpers.ts";
import { startGateway, type TestResponse } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
let id: number;
beforeAll(async () => {
  ({ id } = await createInstance(gateway));
});

const edit = (alerts: Json): Promise<TestResponse> =>
  gateway.request(`PUT /vm/instances/${id}`, { body: { alerts } });
const displayed = async (): Promise<Json> => (await gateway.request(`GET /vm/instances/${id}`)).body.alerts;
const inV4 = async (): Promise<Json> => (await gateway.requestV4(`GET /vm/instances/${id}`)).body.alerts;

const alerts = [
  ["A-078", "cpu", "cpu", 2000, 90],
  ["A-079", "io", "io", 100_000, 10_000],
  ["A-080", "transfer_in", "network_in", 40_000, 10],
  ["A-081", "transfer_out", "network_out", 10_000, 10],
  ["A-082", "transfer_quota", "transfer_quota", 400, 80],
] as const;

describe.each(alerts)("%s alert %s", (_id, alert, v4, most, standard) => {
  test("A-072 has its default threshold at first", async () => {
    expect((await createInstance(gateway))["alerts"]).toMatchObject({
      [alert]: { enabled: true, threshold: standard },
    });
  });

  test.each([1, 2, most - 1, most])("accepts a threshold of %i", async (threshold) => {
    gateway.takeV4Requests();
    const response = await edit({ [alert]: { enabled: true, threshold } });
    expect([response.status, response.body.alerts[alert]]).toEqual([200, { enabled: true, threshold }]);
    expect(gateway.takeV4Requests()[0]?.body).toEqual({ alerts: { [v4]: threshold } });
    expect((await displayed())[alert]).toEqual({ enabled: true, threshold });
  });

  test("T-6.8 translates a threshold of 0 to off in v4", async () => {
    const response = await edit({ [alert]: { threshold: 0 } });
    expect([response.status, response.body.alerts[alert]]).toEqual([
      200,
      { enabled: false, threshold: standard },
    ]);
    expect((await inV4())[v4]).toBe(0);
  });

  test("translates an enabled threshold of 0 to v4's lowest one", async () => {
    expect((await edit({ [alert]: { enabled: true, threshold: 0 } })).body.alerts[alert]).toEqual({
      enabled: true,
      threshold: 1,
    });
  });

  test.each([-1, most + 1, -0.5, 1e15])("A-084 rejects a threshold of %d", async (threshold) => {
    const before = await inV4();
    expect(await edit({ [alert]: { threshold } })).toEqual(errorOn(400, `alerts.${alert}.threshold`));
    expect(await inV4()).toEqual(before);
  });

  test.each([["90"], [true], [[90]], [{}]])("A-084 rejects the threshold %j", async (threshold) => {
    expect(await edit({ [alert]: { threshold } })).toEqual(errorOn(400, `alerts.${alert}.threshold`));
  });

  test("can be disabled and enabled again", async () => {
    expect((await edit({ [alert]: { enabled: false, threshold: 5 } })).body.alerts[alert]).toEqual({
      enabled: false,
      threshold: standard,
    });
    expect((await inV4())[v4]).toBe(0);
    expect((await edit({ [alert]: { enabled: true } })).body.alerts[alert]).toEqual({
      enabled: true,
      threshold: standard,
    });
    expect((await inV4())[v4]).toBe(standard);
  });

  test("A-072 enabled is a boolean", async () => {
    expect(await edit({ [alert]: { enabled: "yes" } })).toEqual(errorOn(400, `alerts.${alert}.enabled`));
  });

  test("A-083 fires above its threshold in v4 as in alpha: the number is not converted", async () => {
    await edit({ [alert]: { enabled: true, threshold: 7 } });
    expect((await inV4())[v4]).toBe(7);
    expect((await displayed())[alert]).toEqual({ enabled: true, threshold: 7 });
  });
});

test("A-084 A-166 all invalid thresholds are reported", async () => {
  const response = await edit({
    cpu: { threshold: 2001 },
    io: { threshold: -1 },
    transfer_in: { threshold: 5 },
  });
  expect(response).toEqual(errorOn(400, "alerts.cpu.threshold", "alerts.io.threshold"));
});

test("A-084 T-2.6 a threshold of v4 above alpha's range can be sent back unchanged", async () => {
  await gateway.requestV4(`PUT /vm/instances/${id}`, { body: { alerts: { cpu: 3000 } } });
  const whole = (await gateway.request(`GET /vm/instances/${id}`)).body;
  expect(whole.alerts.cpu).toEqual({ enabled: true, threshold: 3000 });
  const response = await gateway.request(`PUT /vm/instances/${id}`, { body: { ...whole, label: "kept" } });
  expect([response.status, response.body.label, response.body.alerts.cpu.threshold]).toEqual([
    200,
    "kept",
    3000,
  ]);
  expect((await inV4())["cpu"]).toBe(3000);
});

test("A-072 v4's alert names are ignored", async () => {
  const before = await inV4();
  expect((await edit({ network_in: { threshold: 5 } })).status).toBe(200);
  expect(await inV4()).toEqual(before);
});
