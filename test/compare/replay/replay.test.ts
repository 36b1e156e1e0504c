/** What a gateway has recorded, of whatever request, is never a change under its own pack. */
import { expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { Replay } from "../../../src/compare/replay/replay-record.ts";
import { packIn } from "../../support/packs.ts";
import { RECORDING, startGateway } from "../../support/gateway.ts";
import { request, type RequestOptions } from "../../support/request.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway({ ...RECORDING, MIGRATION_PAGE: "on" }));

const replay = new Replay(packIn("mappings"));

const FORM = { "content-type": "application/x-www-form-urlencoded" };

const LOGIN: readonly [string, RequestOptions?][] = [
  ["GET /oauth/authorize?client_id=x&scopes=vms:view", { headers: { authorization: "" } }],
  ["GET /oauth/authorize"],
  ["POST /oauth/authorize"],
  [
    "POST /oauth/token",
    { raw: new URLSearchParams({ client_id: "x", code: "abcdefgh", client_secret: "s3cr3t" }) },
  ],
  ["POST /oauth/token/expire", { body: {} }],
  ["GET /logout"],
];

const CALLS: readonly [string, RequestOptions?][] = [
  ["GET /v4/vm/instances"],
  ["GET /v4/vm/instances?page=2&bogus=1"],
  ["GET /v4/vm/instances?page=x"],
  ["GET /v4/vm/instances", { headers: { authorization: "token invented-token" } }],
  ["GET /v4/vm/instances", { headers: { authorization: "" } }],
  ["GET /v4/vm/instances", { headers: { authorization: "Basic abc" } }],
  ["GET /v4/vm/instances", { headers: { "x-filter": "{" } }],
  ["GET /v4/vm/instances", { headers: { "x-filter": '{"datacenter":"newark"}' } }],
  ["GET /v4/vm/instances", { headers: { "x-filter": '{"datacenter":"nowhere"}' } }],
  ["GET /v4/vm/instances", { headers: { "x-filter": '{"distribution":"vm/debian8"}' } }],
  ["GET /v4/vm/instances", { headers: { "x-filter": '{"label":"ü\u009b"}' } }],
  ["GET /v4/vm/instances", { headers: { "x-filter": "" } }],
  ["GET /v4/vm/instances", { headers: { "x-cors-status": "true", "x-filter": "{" } }],
  ["HEAD /v4/vm/instances"],
  ["OPTIONS /v4/vm/instances"],
  ["PATCH /v4/vm/instances", { body: {} }],
  ["GET /v4/vm/instances/999999"],
  ["GET /v4/vm/instances/%00"],
  ["GET /v4/vm/instances/%ff"],
  ["GET /v4/vm//instances"],
  ["GET /v4/vm/instances#x"],
  ["GET /"],
  ["GET /favicon.ico"],
  ["GET /v4/datacenters"],
  ["GET /v4/vm/distributions/nope"],
  ["GET /v4/account/profile"],
  ["GET /v4/account/events"],
  ["POST /v4/vm/instances", { raw: "{" }],
  ["POST /v4/vm/instances", { raw: '"@/etc/hostname"' }],
  ["POST /v4/vm/instances", { raw: "[]" }],
  ["POST /v4/vm/instances", { raw: "null" }],
  ["POST /v4/vm/instances", { raw: "5" }],
  ["POST /v4/vm/instances", { raw: Buffer.from([0xff, 0xfe]) }],
  ["POST /v4/vm/instances", { raw: "{}", headers: { "content-type": "text/plain" } }],
  ["POST /v4/vm/instances", { raw: "{}", headers: { "content-type": "application/json; charset=utf-16" } }],
  ["POST /v4/vm/instances", { raw: "{}", headers: { "content-encoding": "br" } }],
  ["POST /v4/vm/instances", { raw: "a=1", headers: FORM }],
  ["POST /v4/vm/instances", { raw: new FormData() }],
  ["POST /v4/vm/instances", { body: { label: "x".repeat(300_000) } }],
  [
    "POST /v4/vm/instances",
    { body: { label: "x".repeat(3000) }, headers: { authorization: "token invented" } },
  ],
  ["POST /v4/vm/instances", { body: { label: "x", label2: 1e300, n: 12345678901234567890n.toString() } }],
  ["POST /v4/vm/instances", { raw: '{"label":"a","label":"b"}' }],
  [
    "POST /v4/vm/instances",
    {
      body: {
        datacenter: "newark",
        type: "g6-standard-1",
        label: "web-one",
        distribution: "vm/debian9",
        root_pass: "r00t-s3cr3t",
      },
    },
  ],
  ["PUT /v4/vm/instances/5201", { body: { label: "renamed" } }],
  ["POST /v4/vm/instances", { raw: `${"[".repeat(500)}${"]".repeat(500)}` }],
  ["POST /v4/feedback", { body: {} }],
  ["GET /v4/vm/instances?a=" + "x".repeat(3000), { headers: { authorization: "token invented" } }],
];

/** Sends a request, and returns its record. */
async function recordOf(call: string, options: RequestOptions): Promise<AuditRecord> {
  const { authorization = `token ${gateway.sandbox.tokens.full}`, ...headers } = options.headers ?? {};
  await request(gateway.app, call, {
    ...options,
    headers: { ...(authorization && { authorization }), ...headers },
  });
  const [record] = (await gateway.readAudit()) as AuditRecord[];
  if (!record) throw new Error("there is no record");
  return record;
}

test.each(CALLS)("%s %j", async (call, options = {}) => {
  expect(await replay.run(await recordOf(call, options))).not.toMatchObject({ kind: "changed" });
});

test("a page for clients, or a check of a token, can't be judged", async () => {
  expect(await replay.run(await recordOf("GET /v4/migration", {}))).toEqual({
    kind: "inconclusive",
    reason: "a page for clients, or a check of a token: no route of the pack is involved",
  });
});

test.each(LOGIN)("%s of the login server can't be judged", async (call, options = {}) => {
  expect(await replay.run(await recordOf(call, options))).toEqual({
    kind: "inconclusive",
    reason: "call of the login server: no route of the pack is involved",
  });
});
