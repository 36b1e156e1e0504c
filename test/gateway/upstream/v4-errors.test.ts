/** v4's own rejections: which status and reasons alpha's client gets, and whom they blame. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { json, plain, raw } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startGatewayWithFakeV4({ ...RECORDING, TOKEN_NEGATIVE_TTL_SECONDS: "0" }),
);

const GOOD = { datacenter: "newark", type: "g6-standard-1", label: "web-one" };
const DEPLOYED = {
  ...GOOD,
  distribution: "vm/debian9",
  root_pass: "a-secret-pass",
  root_ssh_key: "ssh-rsa AAA",
};
const v4Error = (status: number, ...errors: unknown[]) => json(status, { errors });

describe("statuses of v4 errors", () => {
  const table: [number, number, string][] = [
    [400, 400, "Said by v4."],
    [401, 401, "Said by v4."],
    [402, 400, "Said by v4."],
    [403, 403, "Said by v4."],
    [404, 404, "Said by v4."],
    [405, 400, "Said by v4."],
    [406, 400, "Said by v4."],
    [408, 400, "Said by v4."],
    [409, 400, "Said by v4."],
    [410, 400, "Said by v4."],
    [412, 400, "Said by v4."],
    [413, 400, "Said by v4."],
    [415, 400, "Said by v4."],
    [418, 400, "Said by v4."],
    [420, 400, "Said by v4."],
    [422, 400, "Said by v4."],
    [424, 400, "Said by v4."],
    [429, 420, "Said by v4."],
    [451, 400, "Said by v4."],
    [499, 400, "Said by v4."],
    [501, 500, "Said by v4."],
    [505, 500, "Said by v4."],
    [507, 500, "Said by v4."],
    [599, 500, "Said by v4."],
  ];
  test.each(table)("A-164 A-168 to A-173 T-3.1 v4's %i becomes alpha's %i", async (v4, alpha, reason) => {
    gateway.v4.respondWith(v4Error(v4, { reason }));
    const response = await gateway.request("GET /vm/instances");
    expect(response).toMatchObject({ status: alpha, body: { errors: [{ reason }] } });
    const { warnings } = await gateway.readLastRecord();
    expect(warnings).toEqual(v4 === alpha ? [] : [`v4 responded with ${v4}`]);
  });

  test.each([
    [400, 400, "The request was refused."],
    [401, 401, "The access token is not valid."],
    [403, 403, "This is not permitted."],
    [404, 404, "Not found"],
    [409, 400, "The request was refused."],
    [429, 420, "The request was refused."],
    [500, 500, "The service could not process this request."],
  ])(
    "L-9 A-164 v4's %i without errors becomes alpha's %i with a reason of the gateway",
    async (v4, alpha, reason) => {
      for (const behaviour of [
        plain(v4, ""),
        plain(v4, "<h1>No</h1>"),
        json(v4, {}),
        json(v4, null),
        json(v4, { errors: {} }),
        v4Error(v4),
        v4Error(v4, "at 10.0.0.7"),
        json(v4, { message: "boom", stack: "at 10.0.0.7" }),
        json(v4, [1, 2]),
        plain(v4, '{"errors":[{"rea'),
      ]) {
        gateway.v4.respondWith(behaviour);
        expect(await gateway.request("GET /vm/instances")).toMatchObject({
          status: alpha,
          body: { errors: [{ reason }] },
        });
      }
    },
  );
});

describe("L-10 T-3.2 fields in v4 errors are renamed to what the client sent", () => {
  const refused = async (...errors: unknown[]) => {
    gateway.v4.respondWith(v4Error(400, ...errors));
    const response = await gateway.request("POST /vm/instances", { body: DEPLOYED });
    expect(response.status).toBe(400);
    return response.body.errors;
  };

  test.each<[unknown, string | undefined]>([
    ["region", "datacenter"],
    ["image", "distribution"],
    ["type", "type"],
    ["root_pass", "root_pass"],
    ["authorized_keys", "root_ssh_key"],
    ["authorized_keys[0]", "root_ssh_key"],
    ["stackscript_data.x", "stackscript_udf_responses.x"],
    ["stackscript_data", "stackscript_udf_responses"],
    ["stackscript_id", "stackscript"],
    ["backup_id", "backup"],
    ["backups_enabled", "with_backup"],
    ["group", "group"],
    ["booted", undefined],
    ["swap_size", undefined],
    ["X-Filter", undefined],
    ["page", undefined],
    ["interfaces[0].purpose", undefined],
    ["__proto__", undefined],
    ["", undefined],
    [null, undefined],
    [7, undefined],
    [["region"], undefined],
    [{ region: 1 }, undefined],
  ])("A-165 %j becomes alpha's %s", async (field, named) => {
    const errors = await refused({ field, reason: "Said by v4." });
    expect(errors).toEqual([
      named === undefined ? { reason: "Said by v4." } : { reason: "Said by v4.", field: named },
    ]);
  });

  test.each([
    ["label", "label"],
    ["group", "group"],
    ["alerts.cpu", "alerts.cpu.threshold"],
    ["alerts.io", "alerts.io.threshold"],
    ["alerts.network_in", "alerts.transfer_in.threshold"],
    ["alerts.network_out", "alerts.transfer_out.threshold"],
    ["alerts.transfer_quota", "alerts.transfer_quota.threshold"],
    ["backups.schedule.day", "backups.schedule.day"],
    ["backups.schedule.window", "backups.schedule.window"],
    ["watchdog_enabled", undefined],
    ["tags", undefined],
  ])("A-165 %s of an edit becomes alpha's %s", async (field, named) => {
    gateway.v4.respondWith(v4Error(400, { field, reason: "No." }));
    const response = await gateway.request("PUT /vm/instances/7", {
      body: { alerts: { cpu: { enabled: true, threshold: 5 } } },
    });
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([{ reason: "No.", ...(named !== undefined && { field: named }) }]);
  });

  test("invalid entries are omitted", async () => {
    const errors = await refused(
      null,
      7,
      "text",
      [],
      {},
      { reason: 7 },
      { field: "region" },
      { reason: "This one.", more: 1 },
    );
    expect(errors).toEqual([{ reason: "This one." }]);
  });

  test("100 of 1000 problems are reported", async () => {
    const errors = await refused(
      ...Array.from({ length: 1000 }, (_, index) => ({ reason: `Problem ${index}` })),
    );
    expect(errors).toHaveLength(100);
  });
});

describe("a member that the gateway added and v4 rejects", () => {
  test("a default label is dropped in one retry of the create", async () => {
    gateway.v4.respondWith(
      v4Error(400, { field: "label", reason: "Taken." }),
      json(200, { id: 7, label: "vm7" }),
    );
    const { label: _none, ...unnamed } = GOOD;
    expect(await gateway.request("POST /vm/instances", { body: unnamed })).toMatchObject({
      status: 200,
      body: { label: "vm7" },
    });
    expect(gateway.v4.calls.map((call) => Object.keys(call.json() as object).includes("label"))).toEqual([
      true,
      false,
    ]);
    expect((await gateway.readLastRecord()).v4).toHaveLength(2);
  });

  test("is retried once, and the error names no field", async () => {
    gateway.v4.respondWith(v4Error(400, { field: "label", reason: "Taken." }));
    const { label: _none, ...unnamed } = GOOD;
    const response = await gateway.request("POST /vm/instances", { body: unnamed });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ reason: "Taken." }] } });
    expect(response.body.errors[0].field).toBeUndefined();
    expect(gateway.v4.calls).toHaveLength(2);
  });

  test.each([
    [
      "together with another problem",
      GOOD,
      [
        { field: "label", reason: "Taken." },
        { field: "region", reason: "Full." },
      ],
    ],
    ["that the client sent itself", GOOD, [{ field: "label", reason: "Taken." }]],
  ])("is not retried %s", async (_name, body, errors) => {
    gateway.v4.respondWith(json(400, { errors }));
    expect(await gateway.request("POST /vm/instances", { body })).toMatchObject({ status: 400 });
    expect(gateway.v4.calls).toHaveLength(1);
  });
});

describe("L-12 T-1.3 related requests", () => {
  test.each([
    ["fails", plain(500, "")],
    ["is not JSON", plain(200, "<h1>")],
    ["is not an object", json(200, [])],
    ["is refused", json(403, {})],
    ["breaks off", raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")],
  ])("one that %s omits its fields from the response", async (_name, behaviour) => {
    gateway.v4.respondWith((call, response) => {
      const reply = call.path.endsWith("/transfer")
        ? behaviour
        : json(200, { id: 7, label: "web-one", backups: {} });
      reply(call, response);
    });
    expect(await gateway.request("GET /vm/instances/7")).toMatchObject({
      status: 200,
      body: { id: 7, total_transfer: 0 },
    });
  });
});

describe("reasons of v4 errors", () => {
  test.each([
    ["region is not valid", "region", "datacenter is not valid", "datacenter"],
    ["backup_id is not valid; see backup_id.", "backup_id", "backup is not valid; see backup.", "backup"],
    [
      "my_region and region_id are not valid",
      "region",
      "my_region and region_id are not valid",
      "datacenter",
    ],
    ["Too short.", "region", "Too short.", "datacenter"],
    ["label is too short", "label", "label is too short", "label"],
  ])("%s: v4's %s becomes %s", async (reason, field, alpha, named) => {
    gateway.v4.respondWith(v4Error(400, { reason, field }));
    const response = await gateway.request("POST /vm/instances", { body: { ...GOOD, backup: 5 } });
    expect(response.body.errors).toEqual([{ field: named, reason: alpha }]);
  });

  test("a response is bounded for a million reasons, or long ones", async () => {
    const many = Array.from({ length: 100_000 }, () => ({ reason: "No.", field: "label" }));
    const long = Array.from({ length: 100 }, () => ({ reason: "\0".repeat(2500), field: "label" }));
    for (const errors of [many, long]) {
      gateway.v4.respondWith(json(400, { errors }));
      const response = await gateway.request("POST /vm/instances", { body: GOOD });
      expect(response.status).toBe(400);
      expect(response.text.length).toBeLessThan(131_072);
    }
  });
});
