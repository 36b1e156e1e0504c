import { describe, expect, test } from "@jest/globals";
import { items, sandboxForEachTest, type Json } from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

describe("notifications", () => {
  const notices = async (as: "full" | "other" = "full"): Promise<Json[]> =>
    await v4.as(as).list("/account/notifications");

  test("V-043 V-044 V-097 have the documented members and texts", async () => {
    const found = [...(await notices()), ...(await notices("other"))];
    expect(found.length).toBeGreaterThan(2);
    for (const each of found) {
      expect(each).toMatchObject({
        label: expect.any(String),
        message: expect.any(String),
        type: expect.stringMatching(
          /^(migration_(scheduled|imminent|pending)|reboot_scheduled|outage|payment_due|ticket_(important|abuse)|notice|maintenance|promotion)$/,
        ),
        severity: expect.stringMatching(/^(minor|major|critical)$/),
      });
    }
  });

  test.each(["POST", "PUT", "DELETE"])("V-045 are not changed by %s", async (method) => {
    const before = await notices();
    for (const path of ["", "/0", "/1"]) {
      const response = await v4.ask(`${method} /account/notifications${path}`, {});
      expect(response.status).toBeGreaterThanOrEqual(400);
    }
    expect(await notices()).toEqual(before);
  });

  test("V-046 V-123 report a planned migration until it is done", async () => {
    const planned = (await notices()).find(({ type }) => type === "migration_scheduled");
    const { id } = planned.entity as { id: number };
    expect(await v4.status(`POST /vm/instances/${id}/migrate`, {})).toBe(200);
    v4.clock.advance(60_000);
    expect((await notices()).some(({ type }) => type === "migration_scheduled")).toBe(false);
    expect(await v4.status(`POST /vm/instances/${id}/migrate`, {})).toBe(400);
  });

  test("V-047 report domains without an active instance", async () => {
    const unserved = async (): Promise<boolean> =>
      (await notices("other")).some(({ label }) => /not being served/.test(String(label)));
    expect(await unserved()).toBe(false);
    const mine = await v4.as("other").list("/vm/instances");
    for (const { id } of mine) await v4.as("other").ask(`DELETE /vm/instances/${String(id)}`);
    v4.clock.advance(60_000);
    expect(await unserved()).toBe(true);
    const [domain] = await v4.as("other").list("/domains");
    const path = `PUT /domains/${domain?.id}`;
    await v4.as("other").ask(path, { status: "disabled" });
    expect(await unserved()).toBe(false);
  });

  test("V-185 are separate from events", async () => {
    const events = await v4.list("/account/events");
    expect(events.every((each) => "action" in each && !("severity" in each))).toBe(true);
    expect((await notices()).every((each) => !("action" in each))).toBe(true);
  });
});

describe("events", () => {
  test("V-096 V-154 are listed and read", async () => {
    const list = await v4.ask("GET /account/events?page_size=25&page=2");
    expect(items(list)).toHaveLength(25);
    expect(await v4.status("GET /account/events/1")).toBe(404);
  });

  test("V-155 V-184 are marked as seen up to one, with the read scope", async () => {
    const [newest, , third] = await v4.list("/account/events");
    const response = await v4.ask("POST /profile/tokens", { scopes: "events:read_only", label: "e" });
    const as = { authorization: `Bearer ${response.body.token}` };
    expect(await v4.as(as).read(`POST /account/events/${third?.id}/seen`)).toEqual({});
    const seen = await v4.as(as).list("/account/events");
    const at = (id: unknown) => seen.find((each) => each.id === id);
    expect(at(newest?.id)?.seen).toBe(false);
    expect(seen.filter(({ id }) => Number(id) <= Number(third?.id)).every((each) => each.seen)).toBe(true);
  });

  test("are marked as read one by one", async () => {
    const [newest, second] = await v4.list("/account/events");
    await v4.ask(`POST /account/events/${newest?.id}/read`);
    expect((await v4.read(`GET /account/events/${newest?.id}`)).read).toBe(true);
    expect((await v4.read(`GET /account/events/${second?.id}`)).read).toBe(false);
  });

  test("have their progress, and the remaining time of a move", async () => {
    await v4.ask("POST /vm/instances/5201/migrate", { region: "us-west" });
    v4.clock.advance(7000);
    const [event] = items(
      await v4.request("GET /account/events", { filter: { action: "vm_migrate_datacenter" } }),
    );
    expect(event).toMatchObject({ status: "started", percent_complete: 50, time_remaining: "00:00:07" });
    v4.clock.advance(60_000);
    const after = await v4.ask(`GET /account/events/${event?.id}`);
    expect(after.body).toMatchObject({ status: "finished", percent_complete: 100, duration: 14, rate: null });
  });

  test("are filtered by their entity", async () => {
    await v4.ask("POST /vm/instances/5201/reboot");
    const filter = { "entity.id": 5201, "entity.type": "vm" };
    const found = await v4.list("/account/events", filter);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ entity }) => entity.id === 5201)).toBe(true);
  });
});
