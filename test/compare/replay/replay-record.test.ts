/** Recorded requests are replayed: the result is as recorded, unless the pack has changed. */
import { describe, expect, test } from "@jest/globals";
import { checksumOf, type AuditRecord } from "../../../src/audit/record/record.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { Replay, type ReplayResult } from "../../../src/compare/replay/replay-record.ts";
import { readExamples } from "../../../src/authoring/examples/example.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { exampleRecords } from "../../authoring/explain/example-records.ts";
import { withPack, type Edit } from "../../pack/load/pack-folder.ts";
import { PACK_FOLDERS, packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const records = await exampleRecords("mappings", pack);
const replay = new Replay(pack);

const recordOf = (title: string): AuditRecord => {
  const [, record] = records.find(([name]) => name === title) ?? [];
  if (!record) throw new Error(`there is no example "${title}"`);
  return record;
};

/** Why golden cases can be inconclusive: the record lacks something. */
const INCONCLUSIVE = new Set([
  "a file, which is not recorded",
  "the response came from a catalog, which is not recorded",
  "bodies were not recorded (AUDIT=metadata)",
  "it depends on the entries of catalogs, which are not recorded",
]);

test("each recorded golden case of the pack has the same result", async () => {
  const results: [string, ReplayResult][] = [];
  for (const [title, record] of records) results.push([title, await replay.run(record)]);

  const others = results.filter(
    ([, result]) =>
      result.kind === "changed" || (result.kind === "inconclusive" && !INCONCLUSIVE.has(result.reason)),
  );
  expect(others).toEqual([]);
  const same = results.filter(([, { kind }]) => kind === "same");
  expect(same.length).toBeGreaterThan(results.length * 0.9);
});

test.each(PACK_FOLDERS)(
  "no recorded golden case of %s is changed by the pack that made it",
  async (folder) => {
    const own = packIn(folder);
    const changed: string[] = [];
    for (const [title, record] of await exampleRecords(folder, own))
      if ((await new Replay(own).run({ ...record, pack: own.hash })).kind === "changed") changed.push(title);
    expect(changed).toEqual([]);
  },
);

async function changedBy(edits: readonly Edit[], record: AuditRecord): Promise<ReplayResult> {
  return withPack(edits, (folder) => new Replay(loadPack(folder)).run(record), "mappings");
}

const instance = (from: string, to: string): Edit => ({ file: "instance.yaml", from, to });

const ONE = records.find(
  ([, { alpha }]) => alpha.route === "GET /vm/instances/:id" && alpha.status === 200,
)?.[1];
const EDIT = records.find(
  ([, { alpha, v4 }]) =>
    alpha.route === "PUT /vm/instances/:id" &&
    alpha.status === 200 &&
    v4.some(({ body }) => body instanceof Object && "group" in body),
)?.[1];

const CREATE = "A distribution, a key file of two lines, and the backup service by its other name";

describe("a change of the pack is reported", () => {
  const one = ONE ?? sampleRecord("missing");
  const edit = EDIT ?? sampleRecord("missing");

  test.each<[string, Edit, AuditRecord, unknown]>([
    [
      "in a field of the response",
      instance("{ upstream: label, filter: true }", "{ upstream: image, filter: true }"),
      one,
      [expect.objectContaining({ what: "response.label" })],
    ],
    [
      "in a field that was removed",
      instance("  hypervisor:     hypervisor\n", ""),
      one,
      [{ what: "response.hypervisor", was: '"kvm"', is: undefined }],
    ],
    [
      "in the body of a v4 request",
      instance("{ upstream: group, default:", "{ upstream: gruppe, default:"),
      edit,
      expect.arrayContaining([
        expect.objectContaining({ what: expect.stringMatching(/^body of PUT .*\.group$/) }),
      ]),
    ],
    [
      "in a rule that rejects a request that was accepted",
      instance("minLength: 3\n", "minLength: 30\n"),
      recordOf(CREATE),
      expect.arrayContaining([{ what: "status", was: "200", is: "400" }]),
    ],
    [
      "in an expression that fails",
      instance("$floor($calls.transfer.used / 1073741824)", "$floor(label)"),
      one,
      expect.arrayContaining([{ what: "status", was: "200", is: "500" }]),
    ],
  ])("%s", async (_where, change, record, differences) => {
    expect(await changedBy([change], record)).toEqual({ kind: "changed", differences });
  });

  test("in a v4 request, without a comparison of the response", async () => {
    const from = "upstream: GET /vm/instances/{id}\n    calls";
    const result = await changedBy([instance(from, from.replace("/instances", ""))], one);
    expect(result).toMatchObject({ kind: "changed" });
    const { differences } = result as ReplayResult & { kind: "changed" };
    expect(new Set(differences.map(({ what }) => what))).toEqual(new Set(["v4 call"]));
  });
});

describe("entries of catalogs", () => {
  const one = ONE ?? sampleRecord("missing");
  const { catalogs } = readExamples("mappings", []);
  const control = new Replay(pack, { catalogs });
  const underOther = (edits: readonly Edit[], record: AuditRecord, lists = catalogs): Promise<ReplayResult> =>
    withPack(
      edits,
      (folder) => {
        const underCurrent = new Replay(pack, { catalogs: lists });
        return new Replay(loadPack(folder), { catalogs: lists, control: underCurrent }).run(record);
      },
      "mappings",
    );
  const label: Edit = {
    file: "datacenter.yaml",
    from: "$known ? $known : label ? label : id)'",
    to: `$known ? $known & "!" : label ? label : id)'`,
  };
  const datacenters = recordOf("Always the seven that alpha knows");

  test("are compared with those of the current pack, in each object that has one", async () => {
    expect(await underOther([label], one)).toEqual({
      kind: "changed",
      differences: [{ what: "response.datacenter.label", was: '"Mumbai, IN"', is: '"Mumbai, IN!"' }],
    });
    // The type of this example is not in examples/catalogs.yaml.
    expect(await underOther([], one)).toEqual({ kind: "same", uncompared: ["type"] });
  });

  test("are compared in responses of the catalog itself, which are inconclusive without a difference", async () => {
    expect(await underOther([label], datacenters)).toMatchObject({ kind: "changed" });
    expect(await underOther([], datacenters)).toMatchObject({ kind: "inconclusive" });
    expect(await control.run(datacenters)).toMatchObject({ kind: "inconclusive" });
  });

  test("without objects in the golden cases can't be judged if the packs make entries differently", async () => {
    const lists = { ...catalogs, "GET /regions": [{ id: "us-east", country: "us" }] };
    expect(await underOther([label], one, lists)).toEqual({
      kind: "inconclusive",
      reason: "it has entries of datacenter that are not in examples/catalogs.yaml",
    });
  });

  test("are named as not compared if there is nothing to compare them with", async () => {
    expect(await control.run(one)).toEqual({ kind: "same", uncompared: ["datacenter", "type"] });
  });
});

describe("rights and headers, which a replay can't show, are compared with those of the current pack", () => {
  const one = ONE ?? sampleRecord("missing");
  const edit = EDIT ?? sampleRecord("missing");
  const filtered = records.find(([, { alpha, v4 }]) => alpha.filter !== null && v4.length > 0)?.[1];
  const control = new Replay(pack);
  /** What differs in the rules, and then in the result of the record. */
  async function underOther(
    record: AuditRecord | undefined,
    ...edits: readonly Edit[]
  ): Promise<ReplayResult> {
    const { rules = [], ...result } = await withPack(
      edits,
      (folder) => new Replay(loadPack(folder), { control }).run(record ?? sampleRecord("missing")),
      "mappings",
    );
    if (rules.length === 0) return result;
    const others = result.kind === "changed" ? result.differences : [];
    return { kind: "changed", differences: [...rules, ...others] };
  }
  const dialect = (from: string, to: string): Edit => ({ file: "pack.yaml", from, to });
  const READ_ONE = "- client: GET /vm/instances/:id\n    scope: ";

  test.each([
    ["stricter", "vms:delete"],
    ["wider", "token"],
    ["gone", "public"],
  ])("the scope that the route requires, where it gets %s", async (_, scope) => {
    expect(await underOther(one, instance(`${READ_ONE}vms:view`, `${READ_ONE}${scope}`))).toEqual({
      kind: "changed",
      differences: [{ what: "required scope", was: '"vms:view"', is: JSON.stringify(scope) }],
    });
  });

  test("also for a request that was rejected for it", async () => {
    const rejected = { ...one, alpha: { ...one.alpha, status: 403 }, v4: [] };
    const result = await underOther(rejected, instance(`${READ_ONE}vms:view`, `${READ_ONE}token`));
    expect(result).toMatchObject({ kind: "changed", differences: [{ what: "required scope" }] });
  });

  test.each<[string, Edit, object[]]>([
    [
      "what the scopes of a token allow",
      dialect("read_only: view, ", "read_only: delete, "),
      [{ what: "scopes.client_levels.read_only", was: '"view"', is: '"delete"' }],
    ],
    [
      "where clients have their token",
      dialect("{ scheme: token }", "{ cookie: session }"),
      [
        { what: "client credentials.scheme", was: '"token"', is: undefined },
        { what: "client credentials.cookie", was: undefined, is: '"session"' },
      ],
    ],
    [
      "where v4 gets its token",
      dialect("{ scheme: Bearer }", "{ header: X-Key }"),
      [{ what: "upstream credentials.scheme" }, { what: "upstream credentials.header" }],
    ],
    [
      "the headers that all v4 calls have",
      dialect(
        "credentials: { scheme: Bearer }",
        "credentials: { scheme: Bearer }\n  headers: { X-Client: web }",
      ),
      [{ what: "upstream headers" }],
    ],
    [
      "a header of requests that v4 gets",
      dialect("  welcome:", "  headers: { request: { If-None-Match: If-None-Match } }\n  welcome:"),
      [{ what: "passed request headers.if-none-match" }],
    ],
  ])("%s", async (_, change, differences) => {
    expect(await underOther(one, change)).toMatchObject({ kind: "changed", differences });
  });

  test.each<[string, AuditRecord | undefined, string, string, string]>([
    ["passed on", one, "  welcome:", "  headers: { response: { ETag: ETag } }\n  welcome:", "passed.etag"],
    [
      "of a constant",
      one,
      "  welcome:",
      "  headers: { response: { X-A: { const: b } } }\n  welcome:",
      "passed.x-a",
    ],
    ["of the rate limit", one, "limit: X-RateLimit-Limit", "limit: X-Limit", "rateLimit.limit"],
    ["that names v4's request", one, "upstream_header: X-V4-Equivalent", "upstream_header: X-V4", "upstream"],
    [
      "that has v4's filter",
      filtered,
      "upstream_filter_header: X-V4-Filter",
      "upstream_filter_header: X-F",
      "upstreamFilter",
    ],
    [
      "with the next page",
      filtered,
      "page }, size: 25 }",
      "page }, size: 25, link_header: true }",
      "list.link",
    ],
    [
      "with the type",
      one,
      "  upstream_header:",
      "  version: { media_type: application/vnd.old.v1+json }\n  upstream_header:",
      "type",
    ],
  ])("a header of responses %s", async (_, record, from, to, what) => {
    const result = await underOther(record, dialect(from, to));
    expect(result).toMatchObject({
      kind: "changed",
      differences: expect.arrayContaining([expect.objectContaining({ what: `response headers.${what}` })]),
    });
  });

  test("the headers with filters, for requests with a filter", async () => {
    const client = dialect("filters:\n    header: X-Filter", "filters:\n    header: X-Where");
    const upstream = dialect(
      "maximum: 100 } }\n  filters:\n    header: X-Filter",
      "maximum: 100 } }\n  filters:\n    header: X-Where",
    );
    expect(await underOther(filtered, client)).toMatchObject({
      kind: "changed",
      differences: [{ what: "client filter header", was: '"x-filter"', is: '"x-where"' }],
    });
    expect(await underOther(filtered, upstream)).toMatchObject({
      kind: "changed",
      differences: [{ what: "upstream filter header" }],
    });
    expect(await underOther(one, client, upstream)).toMatchObject({ kind: "same" });
  });

  test("no rule of another route is", async () => {
    const other = instance(`${READ_ONE}vms:view`, `${READ_ONE}token`);
    expect(await underOther(edit, other)).toMatchObject({ kind: "same" });
  });
});

describe("the order of v4 calls", () => {
  const changedOrder = (record: AuditRecord, first: number, second: number): AuditRecord => {
    const v4 = [...record.v4];
    [v4[first], v4[second]] = [v4[second], v4[first]] as (typeof v4)[number][] as [never, never];
    return { ...record, v4 };
  };
  const isRead = ({ method }: AuditRecord["v4"][number]): boolean => method === "GET";

  test("is compared where one of them writes", async () => {
    const written = records.find(
      ([, { alpha, v4 }]) => alpha.status === 200 && v4[0] && isRead(v4[0]) && !v4.every(isRead),
    )?.[1];
    if (!written) throw new Error("there is no example with a read before a write");
    const write = written.v4.findIndex((call) => !isRead(call));
    expect(await replay.run(changedOrder(written, 0, write))).toMatchObject({
      kind: "changed",
      differences: [{ what: "order of v4 calls", is: expect.stringMatching(/^"GET .*, then P/) }],
    });
  });

  test("is not compared among reads: some are concurrent", async () => {
    const read = records.find(
      ([, { alpha, v4 }]) => alpha.status === 200 && v4.length > 2 && v4.every(isRead),
    )?.[1];
    if (!read) throw new Error("there is no example with three reads");
    expect(await replay.run(changedOrder(read, 1, 2))).toMatchObject({ kind: "same" });
  });
});

test("a difference that the current pack has, too, is not a change by the other pack", async () => {
  const one = ONE ?? sampleRecord("missing");
  const record = {
    ...one,
    alpha: { ...one.alpha, response: { ...(one.alpha.response as object), label: "as never recorded" } },
  };
  const control = new Replay(pack);
  const edits = [instance("  hypervisor:     hypervisor\n", "")];
  const underOther = (given: readonly Edit[]): Promise<ReplayResult> =>
    withPack(given, (folder) => new Replay(loadPack(folder), { control }).run(record), "mappings");
  expect(await control.run(record)).toMatchObject({ kind: "changed" });
  expect(await underOther([])).toEqual({
    kind: "inconclusive",
    reason: "it differs under the current pack, too",
  });
  expect(await underOther(edits)).toMatchObject({
    kind: "changed",
    differences: [{ what: "response.hypervisor" }],
  });
});

describe("missing parts of a record are not a change of the pack", () => {
  /** A list of events, for which v4 is asked when the user last saw them. That response is cached. */
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

  test("a request whose response was cached is not a changed v4 call", async () => {
    expect(events).toBeDefined();
    const result = await replay.run(withoutRead(events ?? sampleRecord("missing")));
    expect(result).toEqual({ kind: "same" });
  });

  test("a response with the recorded checksum is the same byte for byte", async () => {
    const record = ONE ?? sampleRecord("missing");
    const withChecksum = (checksum: string): AuditRecord => ({
      ...record,
      alpha: { ...record.alpha, checksum },
    });
    const body = JSON.stringify(record.alpha.response);
    expect(await replay.run(withChecksum(checksumOf(body)))).toMatchObject({ kind: "same", exact: true });
    expect(await replay.run(withChecksum(checksumOf(`${body} `)))).not.toHaveProperty("exact");
  });

  test("the request id in the reason of a 500 is not a changed response", async () => {
    const { alpha, v4, ...rest } = ONE ?? sampleRecord("missing");
    const reason = "The service could not process this request (another-request).";
    const failed = {
      ...rest,
      requestId: "another-request",
      alpha: { ...alpha, status: 500, response: { errors: [{ reason }] } },
      v4: v4.map((call, index) => (index === 0 ? { ...call, response: "<h1>502</h1>" } : call)),
    };
    expect(await replay.run(failed)).toEqual({ kind: "same" });
  });
});

describe("a recorded neutral error is the same", () => {
  const [call] = sampleRecord("failed").v4;
  const recorded = (status: number, reason: string): AuditRecord => {
    const record = sampleRecord("failed");
    return {
      ...record,
      requestId: "another-request",
      alpha: {
        ...record.alpha,
        method: "GET",
        path: "/old/books/5",
        query: "",
        filter: null,
        route: "GET /books/:number",
        status,
        response: { problems: [{ text: reason }] },
      },
      v4: [
        {
          ...call,
          method: "GET",
          path: "/api/new/items/5",
          filter: null,
          ms: 1,
          status: 200,
          response: "<h1>Bad Gateway</h1>",
        },
      ],
    };
  };

  test.each([500, 502])("under a pack whose status for it is %i", async (status) => {
    const edit = { file: "pack.yaml", from: "default: 500 }", to: `default: ${status} }` };
    const library = withPack([edit], loadPack);
    const reason = "The service could not process this request (another-request).";
    expect(await new Replay(library).run(recorded(status, reason))).toEqual({ kind: "same" });
  });

  test("where an earlier version worded it otherwise", async () => {
    const reason = "The service could not process this request (another-request).";
    const library = withPack([], loadPack);
    expect(await new Replay(library).run(recorded(500, reason))).toEqual({ kind: "same" });
    expect(await new Replay(library).run(recorded(500, "Out of stock."))).toMatchObject({ kind: "changed" });
  });
});

describe("a result is inconclusive", () => {
  const record = sampleRecord("one");
  const { response: _response, ...alphaWithoutResponse } = record.alpha;
  const [call] = record.v4;
  const { response: _callResponse, ...callWithoutResponse } = call ?? {};
  const truncated = { truncated: true, bytes: 99_999, text: "{" };

  test.each([
    ["native request", { ...record, lane: "native" }],
    ["AUDIT=metadata", { ...record, alpha: alphaWithoutResponse, v4: [callWithoutResponse] }],
    ["AUDIT_BODY_LIMIT", { ...record, v4: [{ ...call, response: truncated }] }],
    ["AUDIT_BODY_LIMIT", { ...record, alpha: { ...record.alpha, response: truncated } }],
    ["the body was not recorded", { ...record, bytes: { in: 9, out: 9 } }],
    ["the request was not recorded", { ...record, alpha: { ...record.alpha, path: "" } }],
    ["the body was not JSON", { ...record, alpha: { ...record.alpha, body: "{oops" } }],
    ["rejected before the pack", { ...record, alpha: { ...record.alpha, status: 401 }, v4: [] }],
    ["rejected before the pack", { ...record, alpha: { ...record.alpha, status: 420 }, v4: [] }],
    ["came from a catalog", { ...record, alpha: { ...record.alpha, route: "GET /datacenters" }, v4: [] }],
  ])("%s", async (reason, given) => {
    expect(await replay.run(given as AuditRecord)).toEqual({
      kind: "inconclusive",
      reason: expect.stringContaining(reason),
    });
  });

  test("if a secret may be the cause, unless the control has no difference", async () => {
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
    const edits = [instance("set: { booted: false }", "set: { booted: true }")];
    await withPack(
      edits,
      async (folder) => {
        const changed = loadPack(folder);
        expect(await new Replay(changed).run(secret)).toMatchObject({ kind: "inconclusive" });
        expect(await new Replay(changed, { control: replay }).run(secret)).toMatchObject({
          kind: "changed",
          differences: [{ was: "false", is: "true" }],
        });
      },
      "mappings",
    );
  });
});
