import { describe, expect, test } from "@jest/globals";
import type { Json } from "./sandbox-service.ts";
import { items, sandboxForEachTest } from "./sandbox-service.ts";

const service = sandboxForEachTest();

describe("notifications", () => {
  const notices = async (as: "full" | "other" = "full"): Promise<Json[]> =>
    items(await service.request("GET /account/notifications", { as }));

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
      const response = await service.request(`${method} /account/notifications${path}`, { body: {} });
      expect(response.status).toBeGreaterThanOrEqual(400);
    }
    expect(await notices()).toEqual(before);
  });

  test("V-046 V-123 report a planned migration until it is done", async () => {
    const planned = (await notices()).find(({ type }) => type === "migration_scheduled") as Json;
    const { id } = planned["entity"] as { id: number };
    expect((await service.request(`POST /vm/instances/${id}/migrate`, { body: {} })).status).toBe(200);
    service.clock.advance(60_000);
    expect((await notices()).some(({ type }) => type === "migration_scheduled")).toBe(false);
    expect((await service.request(`POST /vm/instances/${id}/migrate`, { body: {} })).status).toBe(400);
  });

  test("V-047 report domains without an active instance", async () => {
    const unserved = async (): Promise<boolean> =>
      (await notices("other")).some(({ label }) => /not being served/.test(String(label)));
    expect(await unserved()).toBe(false);
    const mine = items(await service.request("GET /vm/instances", { as: "other" }));
    for (const { id } of mine) await service.request(`DELETE /vm/instances/${String(id)}`, { as: "other" });
    service.clock.advance(60_000);
    expect(await unserved()).toBe(true);
    const [domain] = items(await service.request("GET /domains", { as: "other" }));
    const path = `PUT /domains/${String(domain?.["id"])}`;
    await service.request(path, { as: "other", body: { status: "disabled" } });
    expect(await unserved()).toBe(false);
  });

  test("V-185 are separate from events", async () => {
    const events = items(await service.request("GET /account/events"));
    expect(events.every((each) => "action" in each && !("severity" in each))).toBe(true);
    expect((await notices()).every((each) => !("action" in each))).toBe(true);
  });
});

describe("events", () => {
  test("V-096 V-154 are listed and read", async () => {
    const list = await service.request("GET /account/events?page_size=25&page=2");
    expect(items(list)).toHaveLength(25);
    expect((await service.request("GET /account/events/1")).status).toBe(404);
  });

  test("V-155 V-184 are marked as seen up to one, with the read scope", async () => {
    const [newest, , third] = items(await service.request("GET /account/events"));
    const response = await service.request("POST /profile/tokens", {
      body: { scopes: "events:read_only", label: "e" },
    });
    const as = { authorization: `Bearer ${String(response.body["token"])}` };
    expect(
      (await service.request(`POST /account/events/${String(third?.["id"])}/seen`, { as })).body,
    ).toEqual({});
    const seen = items(await service.request("GET /account/events", { as }));
    const at = (id: unknown): Json | undefined => seen.find((each) => each["id"] === id);
    expect(at(newest?.["id"])?.["seen"]).toBe(false);
    expect(seen.filter(({ id }) => Number(id) <= Number(third?.["id"])).every((each) => each["seen"])).toBe(
      true,
    );
  });

  test("are marked as read one by one", async () => {
    const [newest, second] = items(await service.request("GET /account/events"));
    await service.request(`POST /account/events/${String(newest?.["id"])}/read`);
    expect((await service.request(`GET /account/events/${String(newest?.["id"])}`)).body["read"]).toBe(true);
    expect((await service.request(`GET /account/events/${String(second?.["id"])}`)).body["read"]).toBe(false);
  });

  test("have their progress, and the remaining time of a move", async () => {
    await service.request("POST /vm/instances/5201/migrate", { body: { region: "us-west" } });
    service.clock.advance(7000);
    const [event] = items(
      await service.request("GET /account/events", { filter: { action: "vm_migrate_datacenter" } }),
    );
    expect(event).toMatchObject({ status: "started", percent_complete: 50, time_remaining: "00:00:07" });
    service.clock.advance(60_000);
    const after = await service.request(`GET /account/events/${String(event?.["id"])}`);
    expect(after.body).toMatchObject({ status: "finished", percent_complete: 100, duration: 14, rate: null });
  });

  test("are filtered by their entity", async () => {
    await service.request("POST /vm/instances/5201/reboot");
    const filter = { "entity.id": 5201, "entity.type": "vm" };
    const found = items(await service.request("GET /account/events", { filter }));
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ entity }) => (entity as Json)["id"] === 5201)).toBe(true);
  });
});
