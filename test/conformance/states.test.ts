/** States. */
import { describe, expect, test } from "@jest/globals";
import { startAlteredGateway } from "./altered-v4.ts";
import { createInstance, debianInstance, errorOn, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
const altered = startForTests(() => startAlteredGateway());

describe("the status of an instance", () => {
  test.each([
    ["running", "running"],
    ["offline", "offline"],
    ["booting", "booting"],
    ["rebooting", "rebooting"],
    ["shutting_down", "shutting_down"],
    ["provisioning", "provisioning"],
    ["deleting", "deleting"],
    ["migrating", "migrating"],
    ["rebuilding", "provisioning"],
    ["restoring", "provisioning"],
    ["cloning", "migrating"],
    ["resizing", "migrating"],
    ["stopped", "offline"],
    ["suspended", "offline"],
    ["a_word_of_next_year", "offline"],
    ["constructor", "offline"],
    ["", "offline"],
  ])("A-102 T-6.5 v4's %j is %s", async (v4, alpha) => {
    altered.changeResponse("GET /vm/instances/5201", (body: Json) => ({ ...body, status: v4 }));
    altered.changeResponse("GET /vm/instances", ({ data, ...rest }: { data: Json[] }) => ({
      ...rest,
      data: data.map((row) => Object.assign(row, { status: v4 })),
    }));
    expect((await altered.request("GET /vm/instances/5201")).body.status).toBe(alpha);
    const { body } = await altered.request("GET /vm/instances");
    expect(new Set(body.vms.map(({ status }: Json) => status))).toEqual(new Set([alpha]));
    altered.resetRules();
  });

  test("A-102 goes from provisioning to offline, deleting and 404", async () => {
    gateway.clock.advance(31_000);
    const response = await gateway.request("POST /vm/instances", { body: debianInstance });
    const path = `/vm/instances/${response.body.id}`;
    const status = async () => (await gateway.request(`GET ${path}`)).body.status;
    expect(response.body.status).toBe("provisioning");
    gateway.clock.advance(10_000);
    expect(await status()).toBe("offline");
    await gateway.request(`DELETE ${path}`);
    expect(await status()).toBe("deleting");
    gateway.clock.advance(10_000);
    expect((await gateway.request(`GET ${path}`)).status).toBe(404);
  });

  test.each([
    ["boot", "booting", "running"],
    ["reboot", "rebooting", "running"],
    ["shutdown", "shutting_down", "offline"],
  ])("A-102 for %s by another client is %s, then %s", async (action, first, last) => {
    const { id } = await createInstance(gateway, debianInstance);
    if (action !== "boot") {
      await gateway.requestV4(`POST /vm/instances/${id}/boot`);
      gateway.clock.advance(10_000);
    }
    await gateway.requestV4(`POST /vm/instances/${id}/${action}`);
    const status = async () => (await gateway.request(`GET /vm/instances/${id}`)).body.status;
    expect(await status()).toBe(first);
    gateway.clock.advance(10_000);
    expect(await status()).toBe(last);
  });
});

describe("the status of a disk", () => {
  test.each([
    ["ready", "ok"],
    ["not ready", "creating"],
    ["deleting", "deleting"],
    ["a word of next year", "creating"],
    ["ok", "creating"],
    ["constructor", "creating"],
  ])("A-103 v4's %j is %s", async (v4, alpha) => {
    altered.changeResponse("GET /vm/instances/5202/disks/88012", (body: Json) => ({ ...body, status: v4 }));
    expect((await altered.request("GET /vm/instances/5202/disks/88012")).body.status).toBe(alpha);
    altered.resetRules();
  });

  test("A-104 is ok exactly if no job runs on it", async () => {
    const { id } = await createInstance(gateway);
    const path = `/vm/instances/${id}/disks`;
    const body = { label: "data", size: 100, filesystem: "ext4" };
    const response = await gateway.request(`POST ${path}`, { body });
    const disk = `${path}/${response.body.id}`;
    const status = async () => (await gateway.request(`GET ${disk}`)).body.status;
    expect(response.body.status).toBe("creating");
    expect(await status()).toBe("creating");
    gateway.clock.advance(10_000);
    expect(await status()).toBe("ok");
    await gateway.requestV4(`POST ${disk}/resize`, { body: { size: 200 } });
    expect(await status()).toBe("creating");
    gateway.clock.advance(10_000);
    expect(await status()).toBe("ok");
    await gateway.requestV4(`DELETE ${disk}`);
    expect(await status()).toBe("deleting");
    gateway.clock.advance(10_000);
    expect(await gateway.request(`GET ${disk}`)).toEqual(errorOn(404));
  });
});
