/** Bodies that real clients send, although alpha's description does not allow them. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  answer,
  createInstance,
  debianInstance,
  successWith,
  errorOn,
  fetchAllRows,
  type Json,
  minimalInstance,
} from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
beforeEach(() => {
  gateway.clock.advance(31_000);
  gateway.takeV4Requests();
});

/** What a form of one client posts, state of its own and all. */
const form = {
  ...minimalInstance,
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
const image = { ...least, image: "vm/debian11", root_pass: debianInstance.root_pass };

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
    [
      "a whole distribution",
      { ...debianInstance, distribution: { id: "vm/debian11", label: "Debian 11" } },
      image,
    ],
    ["with_backups", { ...minimalInstance, with_backups: true }, { ...least, backups_enabled: true }],
    [
      "with_backups null beside with_backup",
      { ...minimalInstance, with_backup: true, with_backups: null },
      { ...least, backups_enabled: true },
    ],
    [
      "keys as an array",
      { ...debianInstance, root_ssh_key: ["ssh-rsa A", "ssh-rsa B"] },
      { ...image, authorized_keys: ["ssh-rsa A", "ssh-rsa B"] },
    ],
    [
      "a file of keys",
      { ...debianInstance, root_ssh_key: "ssh-rsa A\nssh-rsa B\r\n\n" },
      { ...image, authorized_keys: ["ssh-rsa A", "ssh-rsa B"] },
    ],
    [
      "a script id as an integer",
      { ...debianInstance, stackscript: 90021 },
      { ...image, stackscript_id: 90021 },
    ],
    [
      "stackscript_data",
      { ...debianInstance, stackscript: "90023", stackscript_data: { LOG_HOST: "x" } },
      { ...image, stackscript_id: 90023, stackscript_data: { LOG_HOST: "x" } },
    ],
    [
      "script responses as JSON text",
      { ...debianInstance, stackscript: "90023", stackscript_udf_responses: '{"LOG_HOST":"x"}' },
      { ...image, stackscript_id: 90023, stackscript_data: { LOG_HOST: "x" } },
    ],
    [
      "an old type and an old distribution",
      { ...debianInstance, type: "vm2048.5", distribution: "vm/arch2016.05" },
      { ...image, image: "vm/arch" },
    ],
    ["a distribution with capitals", { ...debianInstance, distribution: "vm/Debian11" }, image],
  ])("%s", async (_name, body, v4) => {
    expect((await gateway.request("POST /vm/instances", { body })).status).toBe(200);
    expect(gateway.takeV4Requests().find(({ method }) => method === "POST")?.body).toEqual(v4);
  });

  test("a backup as an integer, or as a whole object", async () => {
    for (const backup of [640016, { id: 640016, label: null }]) {
      gateway.clock.advance(31_000);
      const body = { datacenter: "fremont", type: "g6-standard-6", distribution: null, backup };
      expect((await gateway.request("POST /vm/instances", { body })).status).toBe(200);
      expect(gateway.takeV4Requests()[0]?.body).toMatchObject({ backup_id: 640016 });
    }
  });

  test("invalid JSON in stackscript responses is rejected under the documented name", async () => {
    const body = { ...debianInstance, stackscript: "90023", stackscript_data: "LOG_HOST=x" };
    expect(await gateway.request("POST /vm/instances", { body })).toEqual(
      errorOn(400, "stackscript_udf_responses"),
    );
  });
});

test("a disk always has raw and read_only false, and distribution null", async () => {
  const { id } = await createInstance(gateway);
  gateway.takeV4Requests();
  const body = {
    label: "data",
    size: 10,
    filesystem: "raw",
    read_only: false,
    distribution: null,
    root_pass: null,
  };
  expect((await gateway.request(`POST /vm/instances/${id}/disks`, { body })).status).toBe(200);
  expect(gateway.takeV4Requests()[0]?.body).toEqual({ label: "data", size: 10, filesystem: "raw" });
});

describe("whole objects sent back by PUT", () => {
  test("every seeded instance can be read and sent back, with nothing changed", async () => {
    for (const row of await fetchAllRows(gateway, "GET /vm/instances", "vms")) {
      const path = `/vm/instances/${String(row["id"])}`;
      const { body } = await gateway.request(`GET ${path}`);
      const v4 = (await gateway.requestV4(`GET ${path}`)).body;
      const response = await gateway.request(`PUT ${path}`, { body });
      expect(response).toEqual(answer(200, { ...body, updated: response.body.updated }));
      expect((await gateway.requestV4(`GET ${path}`)).body).toEqual({
        ...v4,
        updated: response.body.updated,
      });
    }
  });

  test("one changed member of a whole object is the only change, even with a label that alpha forbids", async () => {
    const { body } = await gateway.request("GET /vm/instances/5204");
    expect(body.label).toBe("cache-04");
    const response = await gateway.request("PUT /vm/instances/5204", { body: { ...body, group: "moved" } });
    expect(response).toEqual(answer(200, { ...body, group: "moved", updated: response.body.updated }));
  });

  test("that label is rejected if it is new", async () => {
    const response = await gateway.request("PUT /vm/instances/5205", {
      body: { label: "cache-04", group: "x" },
    });
    expect(response).toEqual(errorOn(400, "label"));
  });

  test("saving all editable members, with nulls, is accepted", async () => {
    const { body } = await gateway.request("GET /vm/instances/5241");
    const save = { label: null, group: "", alerts: null, backups: { schedule: { day: null, window: "W4" } } };
    const response = await gateway.request("PUT /vm/instances/5241", { body: save });
    expect(response).toEqual(successWith({ label: body.label, group: "" }));
    expect(response.body.backups.schedule).toEqual({ day: "Saturday", window: "W4" });
  });

  test("the schedule at the top level is accepted", async () => {
    const response = await gateway.request("PUT /vm/instances/5241", {
      body: { schedule: { day: "Monday", window: "W6" } },
    });
    expect(response.body.backups.schedule).toEqual({ day: "Monday", window: "W6" });
  });
});
