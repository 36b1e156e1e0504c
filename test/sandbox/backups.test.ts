import { expect, test } from "@jest/globals";
import { sandboxForEachTest, type Json } from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const instance = async (id: number): Promise<Json> => await v4.read(`GET /vm/instances/${id}`);

test("the backups of an instance are one object, not a page", async () => {
  const { body } = await v4.ask("GET /vm/instances/5201/backups");
  expect(Object.keys(body)).toEqual(["automatic", "snapshot"]);
  expect(body).toMatchObject({
    automatic: [{ type: "auto", label: null }, { type: "auto" }, { type: "auto" }],
    snapshot: { in_progress: null, current: { type: "snapshot", label: "before-upgrade" } },
  });
});

test("a running snapshot is in_progress, without finish time", async () => {
  const { body } = await v4.ask("GET /vm/instances/5205/backups");
  expect(body.snapshot).toMatchObject({
    in_progress: { status: "running", finished: null },
    current: null,
  });
});

test("enable switches backups on, and the service chooses day and window", async () => {
  expect((await instance(5202)).backups).toMatchObject({ enabled: false });
  expect(await v4.ask("POST /vm/instances/5202/backups/enable")).toMatchObject({
    status: 200,
    body: {},
  });
  expect((await instance(5202)).backups).toEqual({
    enabled: true,
    schedule: { day: "Scheduling", window: "Scheduling" },
    last_successful: null,
  });
});

test("cancel deletes every backup permanently", async () => {
  expect(await v4.ask("POST /vm/instances/5201/backups/cancel")).toMatchObject({
    status: 200,
    body: {},
  });
  await v4.ask("POST /vm/instances/5201/backups/enable");
  const { body } = await v4.ask("GET /vm/instances/5201/backups");
  expect(body).toEqual({ automatic: [], snapshot: { in_progress: null, current: null } });
  expect(await v4.status("GET /vm/instances/5201/backups/640012")).toBe(404);
});

test("PUT only writes the schedule of backups", async () => {
  const body = {
    backups: { enabled: false, last_successful: null, schedule: { day: "Friday", window: "W4" } },
  };
  const before = (await instance(5201)).backups;
  const { body: after } = await v4.ask("PUT /vm/instances/5201", body);
  expect(after.backups).toEqual({ ...before, schedule: { day: "Friday", window: "W4" } });
});

test("PUT writes single alerts", async () => {
  const before = (await instance(5201)).alerts;
  const { body } = await v4.ask("PUT /vm/instances/5201", { alerts: { cpu: 0 } });
  expect(body.alerts).toEqual({ ...before, cpu: 0 });
});

test("transfer reports bytes used and the quota in GB, and bills nothing", async () => {
  const { body } = await v4.ask("GET /vm/instances/5201/transfer");
  expect(body).toEqual({ used: expect.any(Number), quota: 1000, billable: 0 });
  expect((await v4.list("/vm/instances"))[0]).toMatchObject({ specs: { transfer: 1000 } });
});

test("there is no schedule while backups are off", async () => {
  const body = { backups: { schedule: { day: "Friday", window: "W4" } } };
  const { body: after } = await v4.ask("PUT /vm/instances/5202", body);
  expect(after.backups).toMatchObject({ enabled: false, schedule: { day: null, window: null } });
});
