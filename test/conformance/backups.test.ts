/** The backups of an instance and their schedule. */
import { describe, expect, test } from "@jest/globals";
import { startAlteredGateway } from "./altered-v4.ts";
import { dateTime, number, text } from "./forms.ts";
import { errorOn, fetchAllRows, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
const altered = startForTests(() => startAlteredGateway());

const backup = {
  id: number,
  status: text,
  type: text,
  label: null,
  datacenter: { id: text, label: text, country: text },
  created: dateTime,
  updated: dateTime,
  finished: dateTime,
  configs: [text],
  disks: expect.arrayContaining([{ filesystem: text, label: text, size: number }]),
};

describe("T-8.4 the backups of an instance", () => {
  const off = { enabled: false, schedule: { day: null, window: null }, last_backup: null, snapshot: null };

  test("A-073 A-087 A-088 the last automatic one and the snapshot are Backup objects", async () => {
    const { body } = await gateway.request("GET /vm/instances/5201");
    expect(body.backups).toEqual({
      enabled: true,
      schedule: { day: "Saturday", window: "W10" },
      last_backup: { ...backup, id: 640015, status: "successful", type: "auto", datacenter: body.datacenter },
      snapshot: { ...backup, id: 640014, status: "successful", type: "snapshot", label: "before-upgrade" },
    });
    const disks = (await gateway.request("GET /vm/instances/5201/disks")).body.disks;
    expect(body.backups.snapshot.disks).toEqual(
      disks.map(({ filesystem, label, size }: Json) => ({ filesystem, label, size })),
    );
  });

  test("A-073 T-11.1 while backups are off the object is empty, and v4 is not asked for them", async () => {
    gateway.takeV4Requests();
    expect((await gateway.request("GET /vm/instances/5202")).body.backups).toEqual(off);
    expect(gateway.takeV4Requests().some(({ path }) => path.endsWith("/backups"))).toBe(false);
  });

  test("A-073 a failed one and one in progress are not shown as the last", async () => {
    const { last_backup, snapshot } = (await gateway.request("GET /vm/instances/5205")).body.backups;
    expect([last_backup.status, last_backup.finished, snapshot]).toEqual([
      "successful",
      "2026-05-11T02:13:00",
      null,
    ]);
  });

  test.each([5201, 5202, 5205])(
    "A-089 A-090 the listing of %d has its slots, and at most two weekly ones",
    async (id) => {
      const { body } = await gateway.request(`GET /vm/instances/${id}/backups`);
      expect(Object.keys(body)).toEqual(["daily", "weekly", "snapshot"]);
      expect(Object.keys(body.snapshot)).toEqual(["current", "in_progress"]);
      expect(body.weekly.length).toBeLessThanOrEqual(2);
      const places = [body.daily, ...body.weekly, body.snapshot.current, body.snapshot.in_progress];
      for (const place of places.filter((found) => found !== null)) {
        expect(place).toEqual({ ...backup, label: place.label, finished: place.finished });
      }
    },
  );

  test("A-073 a list shows their schedule, and no backups", async () => {
    for (const { backups } of await fetchAllRows(gateway, "GET /vm/instances", "vms")) {
      expect(backups).toEqual({
        enabled: expect.any(Boolean),
        schedule: expect.anything(),
        last_backup: null,
        snapshot: null,
      });
    }
  });

  test.each([
    ["auto", "auto"],
    ["automatic", "auto"],
    ["a word of next year", "auto"],
  ])("A-106 v4's type %j becomes %s", async (type, alpha) => {
    altered.changeResponse(
      "GET /vm/instances/5201/backups",
      ({ automatic, ...rest }: { automatic: Json[] }) => ({
        ...rest,
        automatic: automatic.map((each) => Object.assign(each, { type })),
      }),
    );
    expect((await altered.request("GET /vm/instances/5201")).body.backups).toMatchObject({
      last_backup: { status: "successful", type: alpha },
      snapshot: { type: "snapshot" },
    });
    altered.resetRules();
  });

  test.each(["pending", "running", "needsPostProcessing", "failed", "userAborted", "paused", "next year's"])(
    "A-105 a backup with v4's status %s is never the last completed one",
    async (status) => {
      const change = (each: Json) => Object.assign(each, { status });
      altered.changeResponse(
        "GET /vm/instances/5201/backups",
        (body: { automatic: Json[]; snapshot: { current: Json } }) => ({
          automatic: body.automatic.map(change),
          snapshot: { ...body.snapshot, current: change(body.snapshot.current) },
        }),
      );
      expect((await altered.request("GET /vm/instances/5201")).body.backups).toMatchObject({
        last_backup: null,
        snapshot: null,
      });
      altered.resetRules();
    },
  );
});

describe("the schedule of backups", () => {
  const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  const windows = Array.from({ length: 12 }, (_, index) => `W${index * 2}`);
  const edit = (schedule: Json) =>
    gateway.request("PUT /vm/instances/5237", { body: { backups: { schedule } } });
  const readSchedule = async () => (await gateway.request("GET /vm/instances/5237")).body.backups.schedule;

  test.each(windows)("A-085 has the window %s", async (window) => {
    gateway.takeV4Requests();
    expect((await edit({ window })).body.backups.schedule.window).toBe(window);
    expect(gateway.takeV4Requests()[0]?.body).toEqual({ backups: { schedule: { window } } });
    expect((await readSchedule()).window).toBe(window);
  });

  const none = ["W1", "W23", "W24", "W-2", "W02", "w2", "W", "2", "", "Scheduling", 2, true, ["W2"]];
  test.each(none.map((window) => [window]))("A-085 rejects the window %j", async (window) => {
    const before = await readSchedule();
    expect(await edit({ window })).toEqual(errorOn(400, "backups.schedule.window"));
    expect(await readSchedule()).toEqual(before);
  });

  test.each(days)("A-086 has the day %s", async (day) => {
    expect((await edit({ day })).body.backups.schedule.day).toBe(day);
    expect((await readSchedule()).day).toBe(day);
  });

  test.each(["sunday", "Sun", "Someday", "", "Scheduling", 1])("A-086 rejects the day %j", async (day) => {
    expect(await edit({ day })).toEqual(errorOn(400, "backups.schedule.day"));
  });

  test("A-085 A-086 is empty while the service has not chosen one", async () => {
    expect((await gateway.request("GET /vm/instances/5209")).body.backups).toMatchObject({
      enabled: true,
      schedule: { day: null, window: null },
    });
  });

  test("A-085 A-086 the seeded ones are weekdays and windows, or none", async () => {
    const seeded = (await fetchAllRows(gateway, "GET /vm/instances", "vms")).map(
      ({ backups }) => (backups as Json)["schedule"] as Json,
    );
    for (const { day, window } of seeded) {
      expect([null, ...days]).toContain(day);
      expect([null, ...windows]).toContain(window);
    }
  });
});
