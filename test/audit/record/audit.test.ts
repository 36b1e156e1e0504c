/** Audit records of successful and failed requests have the real statuses, and no secret. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { crc32 } from "node:zlib";
import { packIn } from "../../support/packs.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { RECORDING } from "../../support/gateway.ts";
import { readSegments } from "../../support/audit-records.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, plain, raw } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

let gateway: GatewayWithFakeV4;
/** The gateway of cases that need no settings of their own. */
const shared = startForTests(() => startGatewayWithFakeV4(RECORDING));

const TOKEN = "tok3n-s3cr3t";
const BODY = {
  datacenter: "newark",
  type: "g6-standard-1",
  label: "web-one",
  distribution: "vm/debian9",
  root_pass: "r00t-s3cr3t",
  stackscript: 5,
  stackscript_udf_responses: { password: "udf-s3cr3t", user: "joe" },
};
const SECRETS = /s3cr3t/;
const create = (body: unknown = BODY, headers: Record<string, string> = {}) =>
  gateway.request("POST /vm/instances", { as: TOKEN, body, headers });

test("a record has times in steps of a microsecond, without the noise after them", async () => {
  shared.v4.respondWith(json(200, { data: [], page: 1, pages: 1, results: 0 }));
  await shared.request("GET /vm/instances", { as: TOKEN });
  const { timings, v4 } = await shared.readLastRecord();
  const times = [...Object.values(timings), ...v4.map(({ ms }: { ms: number }) => ms)];
  expect(times).toHaveLength(4);
  for (const time of times) expect(String(time)).toMatch(/^\d+(\.\d{1,3})?$/);
});

test("the audit has no secret, wherever it occurs and whatever happens to the request", async () => {
  const folder = temporaryFolder();
  gateway = await startGatewayWithFakeV4({ ...RECORDING, DATA_DIR: folder });
  const script = { id: 5, images: ["vm/debian9"], user_defined_fields: [] };
  gateway.v4.respondWith(json(200, script), json(200, { id: 7, label: "web-one", root_pass: "v4-s3cr3t" }));
  expect(await create()).toMatchObject({ status: 200 });
  expect(gateway.v4.calls.at(-1)?.json()).toMatchObject({ root_pass: "r00t-s3cr3t" });
  const record = await gateway.readLastRecord();
  expect(record.v4).toHaveLength(2);
  expect(record.alpha.body).toMatchObject({ label: "web-one", stackscript_udf_responses: "[redacted]" });

  gateway.v4.respondWith(json(200, script), json(400, { errors: [{ reason: "Weak.", field: "root_pass" }] }));
  await create();
  gateway.v4.respondWith(plain(500, '{"root_pass":"v4-s3cr3t"'));
  await create();
  gateway.v4.respondWith(raw("", "reset"));
  await create();
  await create({ ...BODY, label: "!" });
  await gateway.request("POST /vm/instances", { as: TOKEN, raw: '{"root_pass":"r00t-s3cr3t", broken' });
  await gateway.request("POST /vm/instances", {
    as: TOKEN,
    raw: '{"root_pass":"r00t-s3cr3t"}',
    headers: { "content-type": "text/plain" },
  });
  await gateway.request("GET /vm/instances?token=query-s3cr3t&password=query-s3cr3t", { as: TOKEN });
  await gateway.request("GET /vm/instances", { as: null, headers: { authorization: "Basic basic-s3cr3t" } });
  await gateway.request("GET /vm/instances", {
    as: null,
    headers: { authorization: "Bearer bearer-s3cr3t" },
  });
  await gateway.request("GET /vm/instances", {
    as: TOKEN,
    headers: { "user-agent": "curl -H 'Authorization: token agent-s3cr3t'" },
  });
  await gateway.request("GET /vm/instances", { as: TOKEN, filter: { password: "filter-s3cr3t" } });

  const records = await gateway.readAudit();
  expect(records.length).toBeGreaterThanOrEqual(11);
  for (const each of records) expect(JSON.stringify(each)).not.toMatch(SECRETS);
  for (const file of await readdir(folder))
    expect((await readFile(join(folder, file))).toString("latin1")).not.toMatch(SECRETS);
  expect(readSegments(folder)).toContain("web-one");
  expect(readSegments(folder)).not.toMatch(SECRETS);
});

test("a record has both sides of a request", async () => {
  shared.v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  const response = await shared.request("GET /vm/instances?page=1", {
    as: TOKEN,
    filter: { datacenter: "newark" },
    headers: { "user-agent": "agent/1", "x-request-id": "my-id" },
  });
  expect(await shared.readLastRecord()).toMatchObject({
    lane: "alpha",
    pack: packIn("mappings").hash,
    requestId: "my-id",
    client: {
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      userAgent: "agent/1",
      address: "127.0.0.1",
    },
    alpha: {
      method: "GET",
      path: "/v4/vm/instances",
      query: "page=1",
      filter: '{"datacenter":"newark"}',
      route: "GET /vm/instances",
      status: 200,
      response: { vms: [{ id: 7 }] },
      checksum: crc32(response.text).toString(16).padStart(8, "0"),
    },
    v4: [
      {
        method: "GET",
        path: "/v4/vm/instances?page=1&page_size=25",
        filter: '{"region":"us-east"}',
        status: 200,
        response: { data: [{ id: 7 }] },
      },
    ],
    warnings: [],
    bytes: { in: 0, out: Buffer.byteLength(response.text) },
  });
});

test("X-CORS-Status: the record has the real status", async () => {
  expect(await shared.request("GET /nothing", { headers: { "x-cors-status": "true" } })).toMatchObject({
    status: 200,
  });
  expect((await shared.readLastRecord()).alpha).toMatchObject({ status: 404, route: null });
});

test("a read that was tried three times is recorded as one v4 request with the last status", async () => {
  shared.v4.respondWith(plain(503, ""), plain(502, ""), json(200, envelope([])));
  await shared.request("GET /vm/instances");
  expect((await shared.readLastRecord()).v4).toMatchObject([{ status: 200 }]);
});

test("a body above AUDIT_BODY_LIMIT is truncated in the record, and complete for the client", async () => {
  gateway = await startGatewayWithFakeV4({ ...RECORDING, AUDIT_BODY_LIMIT: "1kb" });
  const rows = Array.from({ length: 25 }, (_, id) => ({ id, label: `vm-${"x".repeat(100)}` }));
  gateway.v4.respondWith(json(200, envelope(rows)));
  expect((await gateway.request("GET /vm/instances")).body.vms).toHaveLength(25);
  const { alpha, v4 } = await gateway.readLastRecord();
  expect(alpha.response).toMatchObject({ truncated: true });
  expect(v4[0].response).toMatchObject({ truncated: true });
});

describe("the AUDIT setting", () => {
  test("metadata records no bodies", async () => {
    gateway = await startGatewayWithFakeV4({ ...RECORDING, AUDIT: "metadata" });
    gateway.v4.respondWith(json(200, { id: 7, label: "web-one" }));
    const { stackscript: _script, stackscript_udf_responses: _data, ...body } = BODY;
    expect(await create(body)).toMatchObject({ status: 200 });
    const record = await gateway.readLastRecord();
    expect(record).toMatchObject({ alpha: { status: 200 }, v4: [{ method: "POST", status: 200 }] });
    for (const side of [record.alpha, record.v4[0]]) {
      expect(side).not.toHaveProperty("body");
      expect(side).not.toHaveProperty("response");
    }
    expect(JSON.stringify(record)).not.toMatch(/web-one|newark/);
  });

  test("off records nothing", async () => {
    const folder = temporaryFolder();
    gateway = await startGatewayWithFakeV4({ AUDIT: "off", DATA_DIR: folder });
    gateway.v4.respondWith(json(200, envelope([])));
    expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
    expect((await gateway.requestAdmin("GET /api/audit")).status).toBe(404);
    expect((await gateway.requestAdmin("GET /readyz")).status).toBe(200);
    expect((await readdir(folder)).filter((name) => name.startsWith("audit"))).toEqual([]);
  });
});
