/** What the report makes of records, whoever left them: few, old, deleted, hostile. */
import { describe, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { CallSpan } from "../../../src/audit/usage/usage-reader.ts";
import type { LossUsage } from "../../../src/audit/usage/loss-usage.ts";
import type { ClientUsage, RouteUsage } from "../../../src/audit/usage/usage.ts";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { FORMATS } from "../../../src/migration/report/formats.ts";
import { createReport, type ReportOptions } from "../../../src/migration/report/make-report.ts";
import { packIn } from "../../support/packs.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";

const pack = packIn("mappings");
const NOW = Date.UTC(2026, 2, 20);
const CLIENT = "0123456789abcdef";

interface Given {
  readonly usage: readonly Partial<RouteUsage>[];
  readonly records?: readonly AuditRecord[];
  readonly agent?: string;
  readonly native?: number;
  readonly losses?: readonly LossUsage[];
  readonly spans?: readonly CallSpan[];
  /** What else the store says of the client. */
  readonly counted?: Partial<ClientUsage>;
}

/** A store that has counted these, and has these records left. */
function storeOf({
  usage,
  records = [],
  agent = "sample/1.0",
  native = 0,
  losses = [],
  spans = [],
  counted,
}: Given): ReportOptions["store"] {
  const rows = usage.map((row) => ({
    client: CLIENT,
    lane: "alpha" as const,
    route: "GET /vm/instances",
    status: 200,
    requests: 1,
    lossy: 0,
    first: "2026-03-18T10:00:00.000Z",
    last: "2026-03-19T10:00:00.000Z",
    sample: "gone",
    ...row,
  }));
  const requests = rows.reduce((sum, row) => sum + row.requests, 0);
  const span = { first: "2026-03-01T10:00:00.000Z", last: "2026-03-19T10:00:00.000Z" };
  return {
    clients: async () => [
      {
        client: CLIENT,
        label: null,
        application: null,
        fingerprint: CLIENT,
        userAgent: agent,
        requests,
        native,
        errors: 0,
        lossy: 0,
        ...span,
        lastAlpha: span.last,
        lastNative: null,
        longestPauseMs: null,
        tokens: 1,
        ...counted,
      },
    ],
    tokens: async () => [],
    sent: async () => [],
    losses: async () => losses,
    spans: async () => spans,
    usage: async () => rows,
    days: async () => [{ day: "2026-03-19", alpha: requests, native, errors: 0, lossy: 0, alphaClients: 1 }],
    get: async (id) => records.find((record) => record.id === id),
    query: async () => ({ records, next: null }),
  };
}

const report = (given: Given, of = pack) =>
  createReport({ store: storeOf(given), pack: of, query: {}, now: NOW, quietDays: 7 });
const clientOf = async (given: Given) => (await report(given)).clients[0];
const callOf = async (given: Given) => (await clientOf(given))?.calls[0];

/** The report of a small pack. */
async function reportOf(files: SmallPack, given: Given = { usage: [] }) {
  const folder = writeSmallPack(files);
  return await report(given, loadPack(folder));
}

describe("what changes in all calls", () => {
  const inAllCalls = async (what: string, files: SmallPack) =>
    (await reportOf(files)).everyCall.find((each) => each.what === what);
  const LIST = { list: "books", upstream_list: "items" };

  test("names the header with the number of all items", async () => {
    const size = { parameter: "limit", maximum: 50 };
    const files: SmallPack = {
      client: {
        pagination: { page: { parameter: "page" }, size: 10 },
        responses: { list: { $list: "$items", total: "$total" } },
      },
      upstream: { pagination: { page: { parameter: "page" }, size, total_header: "X-Total-Count" } },
      book: LIST,
    };
    const counts = { alpha: "total", v4: "the header X-Total-Count" };
    expect(await inAllCalls("Counts of a list", files)).toMatchObject(counts);
  });

  test.each<[unknown, string]>([
    ["$items", "the response is the array"],
    [{ rows: { all: "$items" } }, "always in rows.all"],
    [{ $list: "$items" }, "in a member with the name of the list"],
    [{ data: { $list: "$items" } }, "in a member with the name of the list in data"],
    [{ $list: { all: "$items" } }, "in all of a member with the name of the list"],
  ])("says where lists of the shape %j have their rows", async (list, text) => {
    const files = { client: { responses: { list } }, upstream: { responses: { list } }, book: LIST };
    expect(await inAllCalls("Rows of a list", files)).toMatchObject({ alpha: text, v4: text });
  });

  test("names all statuses of the pack, and says if there are others", async () => {
    const check = { field: "title", message: '"No."', status: 409 };
    const files = {
      client: { headers: { request: { "If-None-Match": "If-None-Match" } } },
      pack: {
        errors: {
          statuses: { 429: 420, "5XX": 502 },
          codes: { BUSY: { status: 423 }, GONE: { status: 410 } },
          validation: { status: 422 },
        },
      },
      book: {
        bodies: { make: { schema: { type: "object" }, checks: [check] } },
        routes: [
          { client: "GET /books/:id", upstream: "GET /items/{id}" },
          { client: "POST /books", upstream: "POST /items", body: "make", status: 201 },
        ],
      },
    };
    expect(await inAllCalls("Statuses", files)).toMatchObject({
      alpha:
        "200, 201, 304, 400, 401, 403, 404, 409, 410, 420, 422, 423, 502, and other statuses of errors as upstream has them",
    });
    const closed = { pack: { errors: { statuses: { 404: 404, "4XX": 400, default: 500 } } } };
    expect(await inAllCalls("Statuses", closed)).toMatchObject({ alpha: "200, 400, 404, 500 only" });
  });
});

test("a member that the upstream does not get is one that the client sends, also the ids of a request for many", async () => {
  const files = {
    book: {
      inputs: { ids: { send: false } },
      bodies: {
        drop: {
          schema: {
            type: "object",
            properties: { ids: { type: "array" }, title: { type: "string" } },
          },
        },
      },
      routes: [
        {
          client: "POST /books/drop",
          upstream: "POST /items/{id}/drop",
          body: "drop",
          bulk: { parameter: "id", ids: "ids", most: 4 },
        },
      ],
    },
  };
  const { clients } = await reportOf(files, { usage: [{ route: "POST /books/drop" }] });
  expect(clients[0]?.calls[0]).toMatchObject({
    sends: [
      {
        field: "ids",
        class: "missing",
        change: "Upstream does not have the member; the gateway did not send it.",
      },
      { field: "title", class: "renamed" },
    ],
    notes: ["The gateway called upstream once for each id of a request. Send a call for each."],
  });
});

test("the command for a list that took several pages of v4 is that of the first page", async () => {
  const page = (number: number) => ({
    method: "GET",
    path: `/v4/vm/instances?page=${number}`,
    filter: null,
    status: 200,
    ms: 1,
  });
  const sample = sampleRecord("pages");
  const record = {
    ...sample,
    alpha: {
      ...sample.alpha,
      method: "GET",
      path: "/v4/vm/instances",
      route: "GET /vm/instances",
      status: 200,
    },
    v4: [page(1), page(2)],
  };
  const call = await callOf({ usage: [{ sample: record.id }], records: [record] });
  expect(call?.after[0]?.curl).toContain("page=1");
});

describe("a call without a record", () => {
  test("is described from the pack", async () => {
    const call = await callOf({ usage: [{ route: "PUT /vm/instances/:id" }] });
    expect(call).toMatchObject({
      record: null,
      v4: ["PUT /v4/vm/instances/{id}", expect.any(String), expect.any(String)],
      before: expect.stringContaining(`curl -g -X PUT "$GATEWAY"'/v4/vm/instances/:id'`),
    });
    expect(call?.after[0]?.curl).toContain(`curl -g -X PUT "$V4"'/v4/vm/instances/{id}'`);
    // Without a body that was seen, every member that changes is named.
    expect(call?.sends.map(({ field }) => field)).toContain("alerts.transfer_in");
  });
});

test("a route whose main call reads, and whose later call writes, names both calls", async () => {
  const files: SmallPack = {
    book: {
      routes: [
        {
          client: "DELETE /books/:id",
          upstream: "GET /items/{id}",
          response: "none",
          calls: [{ upstream: "DELETE /items/{id}" }, { name: "rest", upstream: "GET /items" }],
        },
      ],
    },
  };
  const made = await reportOf(files, { usage: [{ route: "DELETE /books/:id" }] });
  expect(made.clients[0]?.calls[0]).toMatchObject({ counterpart: "call", v4: expect.any(Array) });
  const table = FORMATS.md.write(made);
  expect(table).toMatch(/\| `DELETE \/books\/:id` \| `GET \/items\/\{id\}`.*`DELETE \/items\/\{id\}` \|/);
});

test("a call without a v4 counterpart names the alternative and requires no scope", async () => {
  const client = await clientOf({ usage: [{ route: "POST /vm/instances/:id/lish_token", status: 400 }] });
  expect(client?.calls[0]).toMatchObject({
    counterpart: "none",
    reason: "This call has no counterpart in the current interface.",
    v4: [],
    after: [],
  });
  expect(client?.scopes.v4).toEqual([]);
});

test("a call that v4 makes unnecessary can be omitted", async () => {
  const call = await callOf({ usage: [{ route: "POST /vm/instances/:id/kvmify" }] });
  expect(call).toMatchObject({ counterpart: "unneeded", after: [] });
});

test("a route of an older pack is accepted", async () => {
  const call = await callOf({ usage: [{ route: "GET /of/an/older/pack" }] });
  expect(call).toMatchObject({ counterpart: "unknown", v4: [] });
});

test("filters in a recorded query are fields that change", async () => {
  const { alpha, ...record } = sampleRecord("1", { route: "GET /invoices", client: CLIENT });
  const query = "created[gte]=1700000000&sort=-total&page=2";
  const { clients } = await createReport({
    store: storeOf({
      usage: [{ route: "GET /invoices", sample: "1" }],
      records: [{ ...record, alpha: { ...alpha, path: "/invoices", query } }],
    }),
    pack: packIn("examples/billing/pack"),
    query: {},
    now: NOW,
    quietDays: 7,
  });
  expect(clients[0]?.calls[0]?.filters.map(({ field, v4 }) => [field, v4])).toEqual([
    ["created", "createdAt"],
  ]);
});

test("calls are ordered by number of requests, whatever their status", async () => {
  const client = await clientOf({
    usage: [
      { route: "GET /dns/zones", requests: 5 },
      { requests: 4 },
      { requests: 3, status: 400 },
      { requests: 3, status: 403 },
    ],
  });
  expect(client?.calls.map(({ route, requests }) => [route, requests])).toEqual([
    ["GET /vm/instances", 10],
    ["GET /dns/zones", 5],
  ]);
});

test("the required scopes are the highest needed level for each area of v4", async () => {
  const client = await clientOf({
    usage: [
      { route: "GET /vm/instances" },
      { route: "DELETE /vm/instances/:id" },
      { route: "GET /dns/zones" },
      { route: "GET /datacenters" },
    ],
  });
  expect(client?.scopes).toEqual({
    alpha: ["dnszones:view", "vms:delete"],
    v4: ["domains:read_only", "vms:read_write"],
  });
});

describe("the state of a client, at seven quiet days", () => {
  const recent = "2026-03-19T10:00:00.000Z";
  const old = "2026-03-02T10:00:00.000Z";

  test.each([
    ["not begun", "only alpha", { lastAlpha: recent, lastNative: null }],
    ["moving", "alpha and v4", { lastAlpha: recent, lastNative: old }],
    ["ready", "v4, and alpha long ago", { lastAlpha: old, lastNative: recent }],
    ["ready", "v4, and never alpha", { lastAlpha: null, lastNative: recent }],
    ["silent", "nothing lately, alpha before", { lastAlpha: old, lastNative: null }],
    ["silent", "nothing lately, both before", { lastAlpha: old, lastNative: old }],
    [null, "tokens that v4 never accepted", { client: "unaccepted", lastAlpha: recent, lastNative: null }],
    [null, "requests without a token", { client: null, lastAlpha: recent, lastNative: null }],
  ])("is %s: %s", async (readiness, _why, counted) => {
    const { clients, totals } = await report({ usage: [{}], counted });
    expect(clients[0]).toMatchObject({ readiness, lastAlpha: counted.lastAlpha });
    expect(totals).toMatchObject({
      clients: readiness === null ? 0 : 1,
      done: readiness === "ready" ? 1 : 0,
      silent: readiness === "silent" ? 1 : 0,
    });
  });

  test("comes with a warning if the client has paused for longer before", async () => {
    const counted = { lastAlpha: old, lastNative: recent, longestPauseMs: 30 * 86_400_000 };
    const made = await report({ usage: [{}], counted });
    expect(made.clients[0]).toMatchObject({ readiness: "moving", longerPauseMs: counted.longestPauseMs });
    expect(FORMATS.md.write(made)).toContain("It has paused for 30 quiet days before");
  });

  test("has no warning if its pauses were shorter", async () => {
    const counted = { lastAlpha: old, lastNative: recent, longestPauseMs: 6 * 86_400_000 };
    expect(await clientOf({ usage: [{}], counted })).toMatchObject({ longerPauseMs: null });
  });
});

describe("tokens that v4 never accepted", () => {
  const strangers = { client: "unaccepted", label: null, application: null, fingerprint: null, requests: 9 };
  const refused = { client: "unaccepted", route: "GET /vm/kernels", status: 401, requests: 5 };
  const served = { client: "unaccepted", route: "GET /datacenters", status: 200, requests: 4 };

  async function made() {
    const store = storeOf({ usage: [{}, refused, served] });
    const [usage] = await store.clients({});
    const both = { ...store, clients: async () => [usage!, { ...usage!, ...strangers }] };
    return createReport({ store: both, pack, query: {}, now: NOW, quietDays: 7 });
  }

  test("are no clients, and what they were refused is no route in use", async () => {
    const { totals, clients } = await made();
    expect(totals).toMatchObject({ clients: 1, calls: 2 });
    expect(clients.at(-1)).toMatchObject({ client: "unaccepted", readiness: null });
  });

  test("are not counted among the clients of a route", async () => {
    const md = FORMATS.md.write(await made());
    expect(md).toContain("| `GET /vm/instances` | `GET /v4/vm/instances` | 1 | 1 | 0 |");
    expect(md).toContain("| `GET /datacenters` | `GET /v4/regions` | 4 | 0 | 0 |");
    expect(md).not.toContain("| `GET /vm/kernels` |");
  });
});

describe("a client that came back", () => {
  const given = {
    usage: [{}],
    counted: { lastAlpha: "2026-03-19T10:00:00.000Z", lastNative: "2026-03-10T10:00:00.000Z" },
    spans: [
      { client: CLIENT, lane: "alpha", firstDay: "2026-01-01", lastDay: "2026-02-01" },
      { client: CLIENT, lane: "native", firstDay: "2026-02-03", lastDay: "2026-03-10" },
      { client: CLIENT, lane: "alpha", firstDay: "2026-03-18", lastDay: "2026-03-19" },
    ] satisfies CallSpan[],
  };

  test("is moving, and named with the day", async () => {
    expect(await clientOf(given)).toMatchObject({ readiness: "moving", cameBack: "2026-03-18" });
  });

  test.each([
    ["md", "*moving* came back on 2026-03-18"],
    ["html", '<span class="tag warn">moving</span> came back on 2026-03-18'],
    ["json", '"cameBack": "2026-03-18"'],
    ["csv", ",moving,2026-03-18,"],
  ] as const)("is named in %s", async (format, text) => {
    expect(FORMATS[format].write(await report(given))).toContain(text);
  });

  test("is not named if it is ready again", async () => {
    const counted = { lastAlpha: "2026-03-01T10:00:00.000Z", lastNative: "2026-03-19T10:00:00.000Z" };
    expect(await clientOf({ ...given, counted })).toMatchObject({ readiness: "ready", cameBack: null });
  });
});

describe("what was lost", () => {
  const loss = (more: Partial<LossUsage>): LossUsage => ({
    client: CLIENT,
    route: "GET /vm/instances",
    loss: "owner: v4 has none",
    severity: "detail",
    requests: 2,
    firstDay: "2026-03-01",
    lastDay: "2026-03-02",
    ...more,
  });
  const given = {
    usage: [{}],
    losses: [
      loss({ loss: "mode: shown as another", severity: "meaning", lastDay: "2026-03-18" }),
      loss({}),
      loss({ route: "GET /vm/instances/:id", lastDay: "2026-03-09" }),
      loss({ client: "other", requests: 7 }),
      loss({ loss: "size: a part of a GB", severity: "rounding", requests: 90 }),
    ],
  };

  test("is ranked by weight, with routes, clients and days", async () => {
    const { losses, clients } = await report(given);
    expect(losses.map(({ severity, requests }) => `${severity} ${requests}`)).toEqual([
      "meaning 2",
      "detail 11",
      "rounding 90",
    ]);
    expect(losses[1]).toMatchObject({
      routes: ["GET /vm/instances", "GET /vm/instances/:id"],
      lastDay: "2026-03-09",
      clients: [
        { client: "other", name: null, requests: 7 },
        { client: CLIENT, name: null, requests: 4 },
      ],
    });
    expect(clients[0]?.losses.map(({ requests }) => requests)).toEqual([2, 4, 90]);
  });

  test("is shown with roundings folded away", async () => {
    const made = await report(given);
    const html = FORMATS.html.write(made);
    expect(html).toContain("<summary>and 1 rounding, 90 times</summary>");
    expect(html).toContain('<span class="tag bad">meaning</span>');
    const md = FORMATS.md.write(made);
    expect(md).toContain("| *meaning* | mode: shown as another | `GET /vm/instances` | 2 | 2026-03-18 |");
    expect(md).toContain("Client other (7), sample/1.0 (4)");
    expect(md).toContain("and 1 rounding, 90 times");
    expect(md).not.toContain("size: a part of a GB");
    expect(FORMATS.csv.write(made)).toContain('"meaning mode: shown as another\ndetail owner: v4 has none\n');
  });
});

test("the keys of one name are one client, with the sum of their calls", async () => {
  const directory = parseOperatorFile(
    { file: "clients.yaml", text: `billing:\n  tokens: ["${CLIENT}"]\n  applications: [app]\n` },
    CLIENTS_FILE,
  );
  const store = storeOf({ usage: [{ requests: 3 }, { client: "application:app", requests: 4 }] });
  const [usage] = await store.clients({});
  const application = { ...usage!, client: "application:app", application: "app", fingerprint: null };
  const made = await createReport({
    store: {
      ...store,
      clients: async () => [
        { ...usage!, requests: 3 },
        { ...application, requests: 4 },
      ],
    },
    pack,
    query: {},
    now: NOW,
    quietDays: 7,
    directory,
  });
  expect(made.clients).toMatchObject([
    {
      name: "billing",
      requests: 7,
      calls: [{ route: "GET /vm/instances", requests: 7, statuses: [{ status: 200, requests: 7 }] }],
    },
  ]);
  expect(made.totals.clients).toBe(1);
  expect(FORMATS.md.write(made)).toContain("billing");
});

test("the most informative record is shown, and a success before an error", async () => {
  const filtered = sampleRecord("with-filter");
  const records = [
    sampleRecord("refused", { status: 400 }),
    sampleRecord("plain"),
    { ...filtered, alpha: { ...filtered.alpha, filter: '{"datacenter":"newark"}' } },
  ];
  const call = await callOf({ usage: [{ sample: "refused", status: 400 }], records });
  expect(call).toMatchObject({ record: "with-filter", filters: [{ field: "datacenter", v4: "region" }] });
});

describe("texts from clients", () => {
  const agent = '=cmd|"/c calc"\n| <script>alert(1)</script> `x` [y](javascript:z) # {"a":1}';
  const given = { usage: [{}], agent };

  test("are escaped in HTML", async () => {
    const html = FORMATS.html.write(await report(given));
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  });

  test("are escaped in Markdown and end no cell", async () => {
    const markdown = FORMATS.md.write(await report(given));
    const rows = markdown.split("\n").filter((line) => line.includes("script"));
    for (const row of rows) expect(row).not.toMatch(/(?<!\\)<script|(?<!\\)\[y\]|(?<!\\)`x/);
    const bars = rows.filter((row) => row.startsWith("|")).map((row) => row.match(/(?<!\\)\|/g)?.length);
    // A row of clients, and one of callers of a route.
    expect(bars).toEqual([8, 7]);
    expect(rows.length).toBeGreaterThan(0);
  });

  test("are one cell and no formula in CSV", async () => {
    const csv = FORMATS.csv.write(await report(given));
    expect(csv).toContain(`"'=cmd|""/c calc""\n| <script>`);
  });
});

test("a fence in Markdown is longer than any in its content", async () => {
  const record = sampleRecord("fenced");
  const records = [{ ...record, alpha: { ...record.alpha, filter: "{```" } }];
  const markdown = FORMATS.md.write(await report({ usage: [{}], records }));
  expect(markdown).toContain("````sh\ncurl");
});

test("the report shows the progress of the migration", async () => {
  const received: [number, number][] = [];
  const usage = pack.routes.slice(0, 20).map(({ name }) => ({ route: name }));
  const onProgress = (done: number, of: number) => void received.push([done, of]);
  await createReport({ store: storeOf({ usage }), pack, query: {}, now: NOW, quietDays: 7, onProgress });
  expect(received.at(-1)).toEqual([20, 20]);
  expect(received.length).toBeGreaterThan(1);
});

test("a client's name is not markup in Markdown, even in links and anchors", async () => {
  const client = 'label:"></a><img src=x onerror=alert(1)>) ![p](http://evil/p.png)';
  const markdown = FORMATS.md.write(await report({ usage: [{ client }], counted: { client } }));
  expect(markdown).toContain('<a id="client-label%3A%22%3E');
  expect(markdown.replaceAll(/`[^`]*`/g, "")).not.toMatch(/(?<!\\)<img|(?<!\\)\]\(http:/);
});
