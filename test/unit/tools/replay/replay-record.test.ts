/** Recorded requests run again: what was recorded comes out, and a change of the pack shows. */
import { describe, expect, test } from "vitest";
import type { AuditRecord } from "../../../../src/audit/record.ts";
import { loadPack } from "../../../../src/mapping/load/load-pack.ts";
import { replayUnder, type ReplayResult } from "../../../../src/tools/replay/replay-record.ts";
import { sampleRecord } from "../../../integration/audit/sample-record.ts";
import { exampleRecords } from "../explain/example-records.ts";
import { withChangedPack, type PackEdit } from "./changed-pack.ts";

const pack = loadPack("mappings");
const records = await exampleRecords("mappings", pack);
const replay = replayUnder(pack);

const recordOf = (title: string): AuditRecord => {
  const [, record] = records.find(([name]) => name === title) ?? [];
  if (!record) throw new Error(`there is no example "${title}"`);
  return record;
};

/** What can't be told of the golden cases: what is in no record. */
const INCONCLUSIVE = new Set([
  "a file, which is not recorded",
  "answered from the copy of a catalog, which is not recorded",
  "bodies were not recorded (AUDIT=metadata)",
  "it depends on what catalogs had, which is not recorded",
]);

test("each golden case of the pack, recorded and replayed, is unchanged", async () => {
  const verdicts: [string, ReplayResult][] = [];
  for (const [title, record] of records) verdicts.push([title, await replay(record)]);

  const others = verdicts.filter(
    ([, verdict]) =>
      verdict.kind === "changed" || (verdict.kind === "inconclusive" && !INCONCLUSIVE.has(verdict.why)),
  );
  expect(others).toEqual([]);
  const same = verdicts.filter(([, { kind }]) => kind === "same");
  expect(same.length).toBeGreaterThan(verdicts.length * 0.9);
});

async function changedBy(edits: readonly PackEdit[], record: AuditRecord): Promise<ReplayResult> {
  return withChangedPack(edits, (folder) => replayUnder(loadPack(folder))(record));
}

const instance = (from: string, to: string): PackEdit => ({ file: "instance.yaml", from, to });

const ONE = records.find(
  ([, { alpha }]) => alpha.route === "GET /vm/instances/:id" && alpha.status === 200,
)?.[1];
const EDIT = records.find(
  ([, { alpha, v4 }]) =>
    alpha.route === "PUT /vm/instances/:id" && alpha.status === 200 && v4[0]?.method === "PUT",
)?.[1];

const CREATE = "A distribution, a key file of two lines, and the backup service by its other name";

describe("a change of the pack is reported", () => {
  const one = ONE ?? sampleRecord("missing");
  const edit = EDIT ?? sampleRecord("missing");
  const create = recordOf(CREATE);

  test("in a field of the response", async () => {
    const verdict = await changedBy(
      [instance("{ v4: label, filter: true }", "{ v4: image, filter: true }")],
      one,
    );
    expect(verdict).toEqual({
      kind: "changed",
      differences: [expect.objectContaining({ what: "answer.label" })],
    });
  });

  test("in a removed field", async () => {
    const verdict = await changedBy([instance("  hypervisor:     hypervisor\n", "")], one);
    expect(verdict).toEqual({
      kind: "changed",
      differences: [{ what: "answer.hypervisor", was: '"kvm"', is: undefined }],
    });
  });

  test("in a v4 request, whose response is unknown", async () => {
    const verdict = await changedBy(
      [instance("v4: GET /vm/instances/{id}\n    with", "v4: GET /vm/{id}\n    with")],
      one,
    );
    expect(verdict).toMatchObject({ kind: "changed" });
    const { differences } = verdict as ReplayResult & { kind: "changed" };
    expect(new Set(differences.map(({ what }) => what))).toEqual(new Set(["v4 call"]));
  });

  test("in the v4 body", async () => {
    const verdict = await changedBy([instance("{ v4: group, or:", "{ v4: gruppe, or:")], edit);
    const { differences } = verdict as ReplayResult & { kind: "changed" };
    expect(differences.map(({ what }) => what)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^body of PUT .*\.group$/)]),
    );
  });

  test("in a rule that rejects what was accepted", async () => {
    const verdict = await changedBy([instance("minLength: 3\n", "minLength: 30\n")], create);
    const { differences } = verdict as ReplayResult & { kind: "changed" };
    expect(differences).toContainEqual({ what: "status", was: "200", is: "400" });
  });

  test("in an expression that now fails", async () => {
    const verdict = await changedBy(
      [instance("$floor($with.transfer.used / 1073741824)", "$floor(label)")],
      one,
    );
    const { differences } = verdict as ReplayResult & { kind: "changed" };
    expect(differences).toContainEqual({ what: "status", was: "200", is: "500" });
  });
});

describe("missing parts of a record are not reported as changes", () => {
  /** A list of events: whether one was seen is read beside it, and kept for the token. */
  const events = records.find(
    ([, { alpha, v4 }]) =>
      alpha.route === "GET /account/events" &&
      alpha.status === 200 &&
      v4.some(({ path }) => path === "/v4/profile"),
  )?.[1];
  const withoutRead = (record: AuditRecord): AuditRecord => ({
    ...record,
    v4: record.v4.filter(({ path }) => path !== "/v4/profile"),
  });

  test("a cached read is not a changed v4 request", async () => {
    expect(events).toBeDefined();
    const verdict = await replay(withoutRead(events ?? sampleRecord("missing")));
    expect(verdict).toEqual({ kind: "same" });
  });

  test("the request id in the reason of a 500 is not a changed response", async () => {
    const { alpha, v4, ...rest } = ONE ?? sampleRecord("missing");
    const reason = "The service could not answer this request (another-request).";
    const failed = {
      ...rest,
      requestId: "another-request",
      alpha: { ...alpha, status: 500, response: { errors: [{ reason }] } },
      v4: v4.map((call, index) => (index === 0 ? { ...call, response: "<h1>502</h1>" } : call)),
    };
    expect(await replay(failed)).toEqual({ kind: "same" });
  });
});

describe("an inconclusive comparison is reported as such", () => {
  const record = sampleRecord("one");
  const { response: _response, ...told } = record.alpha;
  const [call] = record.v4;
  const { response: _answer, ...asked } = call ?? {};
  const cut = { truncated: true, bytes: 99_999, text: "{" };

  test.each([
    ["v4's own dialect", { ...record, lane: "native" }],
    ["AUDIT=metadata", { ...record, alpha: told, v4: [asked] }],
    ["AUDIT_BODY_LIMIT", { ...record, v4: [{ ...call, response: cut }] }],
    ["AUDIT_BODY_LIMIT", { ...record, alpha: { ...record.alpha, response: cut } }],
    ["the body was no JSON", { ...record, alpha: { ...record.alpha, body: "{oops" } }],
    ["refused before the pack", { ...record, alpha: { ...record.alpha, status: 401 }, v4: [] }],
    ["refused before the pack", { ...record, alpha: { ...record.alpha, status: 420 }, v4: [] }],
    ["copy of a catalog", { ...record, alpha: { ...record.alpha, route: "GET /datacenters" }, v4: [] }],
  ])("%s", async (why, given) => {
    expect(await replay(given as AuditRecord)).toEqual({
      kind: "inconclusive",
      why: expect.stringContaining(why),
    });
  });

  test("with a secret that may be the reason, unless the recording's pack gives the same result", async () => {
    const created = recordOf(CREATE);
    const secret = {
      ...created,
      alpha: { ...created.alpha, body: { ...(created.alpha.body as object), root_pass: "[redacted]" } },
      v4: created.v4.map((each) =>
        each.method === "POST"
          ? { ...each, body: { ...(each.body as object), root_pass: "[redacted]" } }
          : each,
      ),
    };
    const edits = [instance("add: { booted: false }", "add: { booted: true }")];
    await withChangedPack(edits, async (folder) => {
      const changed = loadPack(folder);
      expect(await replayUnder(changed)(secret)).toMatchObject({ kind: "inconclusive" });
      expect(await replayUnder(changed, replay)(secret)).toMatchObject({
        kind: "changed",
        differences: [{ was: "false", is: "true" }],
      });
    });
  });
});
