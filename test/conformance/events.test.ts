/** Events, and the actions that alpha has words for. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { dateTime, flag, number, text } from "./forms.ts";
import { successWith, errorOn, fetchAllRows, type Json } from "./helpers.ts";
import { packIn } from "../support/packs.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
let events: Json[];
beforeAll(async () => {
  events = await fetchAllRows(gateway, "GET /account/events", "events");
});

const ACTIONS =
  "vm_boot vm_create vm_delete vm_shutdown vm_reboot vm_snapshot vm_addip vm_migrate vm_rebuild vm_clone " +
  "disk_create disk_delete disk_duplicate disk_resize backups_enable backups_cancel backups_restore " +
  "password_reset dns_zone_create dns_zone_delete dns_record_create dns_record_delete " +
  "script_create script_publicize script_revise script_delete";

/** All events of the sandbox, in v4's form. */
async function eventsOfV4(): Promise<Json[]> {
  const { body } = await gateway.requestV4("GET /account/events?page_size=100");
  const others = await Promise.all(
    Array.from({ length: body.pages - 1 }, (_, index) =>
      gateway.requestV4(`GET /account/events?page_size=100&page=${index + 2}`),
    ),
  );
  return [body, ...others.map((response) => response.body)].flatMap(({ data }) => data);
}

describe("T-8.9 the events of an account", () => {
  test("A-050 A-051 A-156 T-6.7 have all their members and no other", () => {
    expect(events.length).toBeGreaterThan(25);
    for (const event of events) {
      expect(event).toEqual({
        id: number,
        action: text,
        entity: { id: number, type: text, label: text, url: expect.stringMatching(/^\/v4\/\w/) },
        username: text,
        user_id: number,
        status: text,
        percent_complete: event["status"] === "notification" ? null : number,
        rate: null,
        time_remaining: null,
        seen: flag,
        read: flag,
        created: dateTime,
        updated: dateTime,
      });
    }
  });

  test("A-052 A-107 have percent_complete null exactly for notifications", () => {
    const notifications = events.filter(({ status }) => status === "notification");
    expect(notifications.length).toBeGreaterThan(0);
    expect(events.filter(({ percent_complete: percent }) => percent === null)).toEqual(notifications);
    const statuses = new Set(["scheduled", "started", "finished", "failed", "notification"]);
    expect(events.filter(({ status }) => !statuses.has(String(status)))).toEqual([]);
  });

  test("A-157 A-158 A-159 A-160 A-163 have only alpha's actions, which totals count", async () => {
    const alphaActions = new Set(ACTIONS.split(" "));
    expect(events.filter(({ action }) => !alphaActions.has(String(action)))).toEqual([]);
    const v4 = await eventsOfV4();
    const unknown = v4.filter(({ action }) => action === "vm_update");
    expect(unknown.length).toBeGreaterThan(0);
    expect(events.length).toBe(v4.length - unknown.length);
    expect((await gateway.request("GET /account/events")).body.total_results).toBe(events.length);
  });

  test("A-163 omit those with actions that alpha does not have", async () => {
    const event = (await eventsOfV4()).find(({ action }) => action === "vm_update");
    expect(await gateway.request(`GET /account/events/${String(event?.["id"])}`)).toEqual(errorOn(404));
  });

  test("can be read one by one, an unknown one gets 404", async () => {
    const [event] = events;
    expect(await gateway.request(`GET /account/events/${String(event?.["id"])}`)).toEqual(
      successWith(event ?? {}),
    );
    expect(await gateway.request("GET /account/events/1")).toEqual(errorOn(404));
  });

  test("A-020 A-025 are found by an action under all v4 actions that are shown as it", async () => {
    const reboots = await fetchAllRows(gateway, "GET /account/events", "events", {
      filter: { action: "vm_reboot" },
    });
    expect(reboots).toEqual(events.filter(({ action }) => action === "vm_reboot"));
    const v4 = (await eventsOfV4()).filter(({ action }) => action === "lassie_reboot");
    expect(reboots.map(({ id }) => id)).toEqual(expect.arrayContaining(v4.map(({ id }) => id)));
    const others = await fetchAllRows(gateway, "GET /account/events", "events", {
      filter: { action: { "+neq": "vm_reboot" } },
    });
    expect(others.length).toBe(events.length - reboots.length);
  });

  test("A-053 A-054 have rate and time for moves and resizes only, and time while they run", () => {
    const moves = new Set(["vm_migrate", "disk_resize"]);
    const others = events.filter(({ action }) => !moves.has(String(action)));
    const over = events.filter(({ status }) => status !== "started");
    expect(others.length).toBeGreaterThan(0);
    expect(over.length).toBeGreaterThan(0);
    expect(others.filter(({ rate }) => rate !== null)).toEqual([]);
    expect([...others, ...over].filter(({ time_remaining: left }) => left !== null)).toEqual([]);
  });

  test("A-055 have the user by name, and by number if it is the caller", async () => {
    const { body: me } = await gateway.request("GET /account/profile");
    const { body: v4 } = await gateway.requestV4("GET /profile");
    const mine = events.filter(({ username }) => username === me.username);
    expect(mine.length).toBeGreaterThan(0);
    for (const { username, user_id: id } of events) expect(id).toBe(username === me.username ? v4.uid : 0);
  });

  test("A-020 are unseen as in v4, before and after they are marked", async () => {
    const unseen = (rows: readonly Json[]) => rows.filter(({ seen: flagged }) => flagged === false);
    const ask = (filter: unknown) => fetchAllRows(gateway, "GET /account/events", "events", { filter });
    expect(await ask({ seen: false })).toEqual(unseen(events));
    const middle = events[Math.floor(events.length / 2)]?.["id"];
    await gateway.request(`POST /account/events/${String(middle)}/seen`, { raw: "null" });
    const marked = await fetchAllRows(gateway, "GET /account/events", "events");
    expect(marked.some(({ seen: flagged }) => flagged === true)).toBe(true);
    expect(await ask({ seen: false })).toEqual(unseen(marked));
    expect(await ask({ seen: { "+ne": false } })).toEqual(
      marked.filter(({ seen: flagged }) => flagged === true),
    );
    const since = { seen: true, created: { "+lte": "2026-12-31T00:00:00.000Z" } };
    expect(await ask(since)).toEqual(await ask({ seen: true }));
    expect(await gateway.request("GET /account/events", { filter: { seen: "yes" } })).toEqual(errorOn(400));
  });

  test("include the creation of an instance", async () => {
    const { body } = await gateway.request("POST /vm/instances", {
      body: { datacenter: "newark", type: "standard-1", label: "on-the-timeline" },
    });
    const { body: list } = await gateway.request("GET /account/events", { filter: { action: "vm_create" } });
    expect(list.events[0]).toMatchObject({
      action: "vm_create",
      entity: { id: body.id, type: "vm", label: "on-the-timeline", url: `/v4/vm/instances/${body.id}` },
    });
  });
});

describe("event actions of the pack", () => {
  const pack = packIn("mappings");
  const table = new Map(pack.dialect.values["event_action"]?.read as [string, string][]);

  test("A-157 A-158 A-159 A-160 A-161 A-162 are alpha's, all of them", () => {
    expect([...new Set(table.values())].sort()).toEqual(ACTIONS.split(" ").sort());
  });

  test("A-163 T-6.6 the list requests exactly v4's actions that have an alpha name", () => {
    expect(pack.route("GET /account/events")?.where).toEqual({
      "+or": [...table.keys()].map((action) => ({ action })),
    });
  });
});
