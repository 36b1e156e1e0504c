/** Jobs that run when the sandbox starts end, as jobs do that start later. */
import { describe, expect, test } from "@jest/globals";
import { sandboxForEachTest, type Json } from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const transitional = [
  "booting",
  "rebooting",
  "shutting_down",
  "provisioning",
  "deleting",
  "migrating",
  "rebuilding",
  "cloning",
  "restoring",
];

const instances = async (): Promise<Json[]> => await v4.list("/vm/instances");
const events = async (): Promise<Json[]> => await v4.list("/account/events");
const backups = async (id: number): Promise<{ automatic: Json[]; snapshot: Json }> =>
  await v4.read(`GET /vm/instances/${id}/backups`);
const instance = async (id: number): Promise<Json> => await v4.read(`GET /vm/instances/${id}`);

describe("seeded instances with a running job", () => {
  test("reach the next state, and the one being deleted disappears", async () => {
    const busy = (await instances()).filter(({ status }) => transitional.includes(String(status)));
    expect(new Set(busy.map(({ status }) => status))).toEqual(new Set(transitional));
    v4.clock.advance(5 * minute);
    const after = new Map((await instances()).map(({ id, status }) => [id, status]));
    const then = busy.map(({ id, status }) => [status, after.get(id)]);
    expect(Object.fromEntries(then)).toEqual({
      booting: "running",
      rebooting: "running",
      shutting_down: "offline",
      provisioning: "running",
      deleting: undefined,
      migrating: "running",
      rebuilding: "running",
      cloning: "offline",
      restoring: "offline",
    });
  });

  test("each have a running event that ends with the job", async () => {
    const busy = (await instances()).filter(({ status }) => transitional.includes(String(status)));
    const begun = (await events()).filter(({ status, duration }) => status === "started" && duration === 60);
    const about = new Set(begun.map(({ entity }) => entity.id));
    expect(about).toEqual(new Set(busy.map(({ id }) => id)));
    v4.clock.advance(5 * minute);
    const ended = (await events()).filter(({ id }) => begun.some((each) => each.id === id));
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["finished"]));
  });

  test("five minutes later no event is running, and the snapshot is finished", async () => {
    v4.clock.advance(5 * minute);
    const statuses = new Set((await events()).map(({ status }) => status));
    expect(statuses).toEqual(new Set(["finished", "failed", "notification"]));
    const { snapshot } = await backups(5205);
    expect(snapshot).toMatchObject({ in_progress: null, current: { status: "successful" } });
  });
});

describe("automatic backups", () => {
  /** 5201 has its backups between 10 and 12, 5205 between 2 and 4. */
  const window = (time: unknown): number => new Date(`${String(time)}Z`).getUTCHours();

  test.each([
    [5201, 10],
    [5205, 2],
  ])("of instance %i are taken in the two hours from %i", async (id, from) => {
    const before = new Set((await backups(id)).automatic.map((each) => each.id));
    v4.clock.advance(day);
    const { automatic } = await backups(id);
    const [taken = {}, ...others] = automatic.filter((each) => !before.has(each.id));
    expect(others).toEqual([]);
    expect([from, from + 1]).toContain(window(taken.created));
    expect(taken).toMatchObject({ type: "auto", status: "successful", label: null });
    expect(taken.disks).not.toEqual([]);
    const { last_successful: last } = (await instance(id)).backups;
    expect(last).toBe(taken.finished);
  });

  test("are at most one daily and two weekly ones at any time", async () => {
    v4.clock.advance(60 * day);
    const { automatic } = await backups(5201);
    expect(automatic).toHaveLength(3);
    const saturdays = automatic.filter(({ created }) => new Date(`${String(created)}Z`).getUTCDay() === 6);
    expect(saturdays.length).toBeGreaterThanOrEqual(2);
  });

  test("have a day and a window chosen by the service, unless they are off", async () => {
    await v4.ask("POST /vm/instances/5202/backups/enable");
    await v4.ask("POST /vm/instances/5201/backups/cancel");
    v4.clock.advance(day);
    expect((await instance(5202)).backups).toMatchObject({
      schedule: { day: expect.stringMatching(/day$/), window: expect.stringMatching(/^W\d+$/) },
      last_successful: expect.any(String),
    });
    expect((await backups(5201)).automatic).toEqual([]);
  });

  test("follow a change of the window", async () => {
    await v4.ask("PUT /vm/instances/5201", { backups: { schedule: { window: "W20" } } });
    v4.clock.advance(day);
    const newest = (await backups(5201)).automatic.at(-1);
    expect([20, 21]).toContain(window(newest?.created));
  });
});

test("a restored state continues where it was saved", async () => {
  const saved = v4.sandbox.save();
  v4.clock.advance(day);
  const later = await backups(5201);
  v4.sandbox.restore(JSON.parse(JSON.stringify(saved)));
  expect((await backups(5201)).automatic.map((each) => each.created)).toEqual(
    later.automatic.map((each) => each.created),
  );
});
