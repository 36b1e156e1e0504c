/** Bodies that clients in use really send, whatever the document says. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { created, debian, given, refused, seen, whole, type Json, smallest } from "./told.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => {
  gateway.clock.advance(31_000);
  gateway.sentToV4();
});
afterAll(() => gateway.stop());

/** What a form of one client posts, state of its own and all. */
const form = {
  ...smallest,
  label: null,
  group: null,
  distribution: null,
  backup: null,
  root_pass: null,
  root_ssh_key: null,
  stackscript: null,
  stackscript_udf_responses: null,
  with_backup: null,
  loading: true,
  errors: {},
  quantity: 1,
};
const least = { region: "us-east", type: "g6-standard-1", label: "vm", booted: false };
const image = { ...least, image: "vm/debian11", root_pass: debian.root_pass };

describe("creating an instance", () => {
  test.each<[string, Json, Json]>([
    ["explicit nulls and unknown members", form, least],
    [
      "whole objects for ids",
      {
        datacenter: { id: "newark", label: "Newark, NJ", country: "us" },
        type: { id: "g6-standard-1", ram: 1 },
      },
      least,
    ],
    ["a whole distribution", { ...debian, distribution: { id: "vm/debian11", label: "Debian 11" } }, image],
    ["with_backups", { ...smallest, with_backups: true }, { ...least, backups_enabled: true }],
    [
      "with_backups null beside with_backup",
      { ...smallest, with_backup: true, with_backups: null },
      { ...least, backups_enabled: true },
    ],
    [
      "keys as an array",
      { ...debian, root_ssh_key: ["ssh-rsa A", "ssh-rsa B"] },
      { ...image, authorized_keys: ["ssh-rsa A", "ssh-rsa B"] },
    ],
    [
      "a file of keys",
      { ...debian, root_ssh_key: "ssh-rsa A\nssh-rsa B\r\n\n" },
      { ...image, authorized_keys: ["ssh-rsa A", "ssh-rsa B"] },
    ],
    ["a script id as an integer", { ...debian, stackscript: 90021 }, { ...image, stackscript_id: 90021 }],
    [
      "stackscript_data",
      { ...debian, stackscript: "90023", stackscript_data: { LOG_HOST: "x" } },
      { ...image, stackscript_id: 90023, stackscript_data: { LOG_HOST: "x" } },
    ],
    [
      "answers as JSON text",
      { ...debian, stackscript: "90023", stackscript_udf_responses: '{"LOG_HOST":"x"}' },
      { ...image, stackscript_id: 90023, stackscript_data: { LOG_HOST: "x" } },
    ],
    [
      "an old type and an old distribution",
      { ...debian, type: "vm2048.5", distribution: "vm/arch2016.05" },
      { ...image, image: "vm/arch" },
    ],
    ["a distribution with capitals", { ...debian, distribution: "vm/Debian11" }, image],
  ])("%s", async (_name, body, v4) => {
    expect((await gateway.ask("POST /vm/instances", { body })).status).toBe(200);
    expect(gateway.sentToV4().find(({ method }) => method === "POST")?.body).toEqual(v4);
  });

  test("a backup as an integer, or as a whole object", async () => {
    for (const backup of [640016, { id: 640016, label: null }]) {
      gateway.clock.advance(31_000);
      const body = { datacenter: "fremont", type: "g6-standard-6", distribution: null, backup };
      expect((await gateway.ask("POST /vm/instances", { body })).status).toBe(200);
      expect(gateway.sentToV4()[0]?.body).toMatchObject({ backup_id: 640016 });
    }
  });

  test("answers that are text but no JSON are refused by the documented name", async () => {
    const body = { ...debian, stackscript: "90023", stackscript_data: "LOG_HOST=x" };
    expect(seen(await gateway.ask("POST /vm/instances", { body }))).toEqual(
      refused(400, "stackscript_udf_responses"),
    );
  });
});

test("a disk: raw and read_only false always, distribution null", async () => {
  const { id } = await created(gateway);
  gateway.sentToV4();
  const body = {
    label: "data",
    size: 10,
    filesystem: "raw",
    read_only: false,
    distribution: null,
    root_pass: null,
  };
  expect((await gateway.ask(`POST /vm/instances/${id}/disks`, { body })).status).toBe(200);
  expect(gateway.sentToV4()[0]?.body).toEqual({ label: "data", size: 10, filesystem: "raw" });
});

describe("whole objects sent back by PUT", () => {
  test("every seeded instance can be read and sent back, with nothing changed", async () => {
    for (const row of await whole(gateway, "GET /vm/instances", "vms")) {
      const path = `/vm/instances/${String(row["id"])}`;
      const { body } = await gateway.ask(`GET ${path}`);
      const v4 = (await gateway.askV4(`GET ${path}`)).body;
      const told = await gateway.ask(`PUT ${path}`, { body });
      expect(seen(told)).toEqual({ status: 200, body: { ...body, updated: told.body.updated } });
      expect((await gateway.askV4(`GET ${path}`)).body).toEqual({ ...v4, updated: told.body.updated });
    }
  });

  test("one member changed of a whole object is the one change, though its label is one that alpha forbids", async () => {
    const { body } = await gateway.ask("GET /vm/instances/5204");
    expect(body.label).toBe("cache-04");
    const told = await gateway.ask("PUT /vm/instances/5204", { body: { ...body, group: "moved" } });
    expect(seen(told)).toEqual({
      status: 200,
      body: { ...body, group: "moved", updated: told.body.updated },
    });
  });

  test("that label is still refused where it would be new", async () => {
    const told = await gateway.ask("PUT /vm/instances/5205", { body: { label: "cache-04", group: "x" } });
    expect(seen(told)).toEqual(refused(400, "label"));
  });

  test("a save that sends every editable member, nulls among them", async () => {
    const { body } = await gateway.ask("GET /vm/instances/5241");
    const save = { label: null, group: "", alerts: null, backups: { schedule: { day: null, window: "W4" } } };
    const told = await gateway.ask("PUT /vm/instances/5241", { body: save });
    expect(seen(told)).toEqual(given({ label: body.label, group: "" }));
    expect(told.body.backups.schedule).toEqual({ day: "Saturday", window: "W4" });
  });

  test("the schedule at the top level", async () => {
    const told = await gateway.ask("PUT /vm/instances/5241", {
      body: { schedule: { day: "Monday", window: "W6" } },
    });
    expect(told.body.backups.schedule).toEqual({ day: "Monday", window: "W6" });
  });
});
