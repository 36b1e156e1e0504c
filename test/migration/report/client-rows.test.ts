/** Rows of the report that stand for several tokens, and what they open to. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { STATE_LABELS } from "../../../src/audit/usage/migration-words.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { FORMATS } from "../../../src/migration/report/formats.ts";
import { createReport } from "../../../src/migration/report/make-report.ts";
import type { Report } from "../../../src/migration/report/make-report.ts";
import { sampleId, sampleRecord } from "../../audit/record/sample-record.ts";
import { COLORS } from "../../../src/base/blocks/colors.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { packIn } from "../../support/packs.ts";

const NOW = Date.UTC(2026, 2, 20);
const TOKENS = 150;
const tokenOf = (n: number): string => n.toString(16).padStart(16, "0");
const folder = temporaryFolder();
let store: AuditStore;
let made: Report;

const reportOf = (query: { since?: string } = {}): Promise<Report> =>
  createReport({ store, pack: packIn("mappings"), query, now: NOW, quietDays: 7 });

beforeAll(async () => {
  const options = { directory: folder, durability: "strict", retentionDays: 36_500, sizeLimit: 1e9 } as const;
  store = await openSqliteStore(options);
  const records = Array.from({ length: TOKENS }, (_, n) =>
    sampleRecord(sampleId(n), {
      client: tokenOf(n + 1),
      agent: `phone/${n % 3}`,
      accepted: true,
      time: "2026-03-18T10:00:00.000Z",
    }),
  );
  const early = { client: tokenOf(1), agent: "phone/0", accepted: true, time: "2026-03-01T10:00:00.000Z" };
  for (const each of [...records, sampleRecord("native", { ...early, lane: "native", route: null })])
    void store.append(each);
  await store.append(
    sampleRecord("last", { ...early, client: tokenOf(1), time: "2026-03-01T11:00:00.000Z" }),
  );
  made = await reportOf();
});
afterAll(async () => {
  await store.close();
});

test("a client with one token and two programs shows both", async () => {
  const options = {
    directory: temporaryFolder(),
    durability: "strict",
    retentionDays: 36_500,
    sizeLimit: 1e9,
  } as const;
  const programs = await openSqliteStore(options);
  for (const agent of ["billing/1", "sync/2"])
    await programs.append(
      sampleRecord(agent, { agent, accepted: true, time: `2026-03-1${agent.at(-1)}T10:00:00.000Z` }),
    );
  const report = await createReport({
    store: programs,
    pack: packIn("mappings"),
    query: {},
    now: NOW,
    quietDays: 7,
  });
  await programs.close();
  expect(report.clients).toMatchObject([{ userAgent: "sync/2", otherAgents: ["billing/1"] }]);
  expect(FORMATS.md.write(report)).toContain("[sync/2, billing/1]");
});

describe("tokens of one user agent", () => {
  test("are one row with all their calls, of which the first tokens are listed", () => {
    expect(made.clients).toHaveLength(1);
    expect(made.clients[0]).toMatchObject({
      id: "agent:phone",
      family: "phone",
      tokens: TOKENS,
      readiness: "moving",
      requests: TOKENS + 2,
      calls: [{ route: "GET /vm/instances", requests: TOKENS + 1 }],
    });
    expect(made.clients[0]?.members).toHaveLength(100);
    expect(made.clients[0]?.members[0]).toMatchObject({ fingerprint: tokenOf(1), state: "moving" });
    expect(made.totals).toMatchObject({ clients: 1 });
  });

  test("can be opened in HTML", () => {
    const html = FORMATS.html.write(made);
    expect(html).toContain(`<details><summary>${TOKENS} tokens, with their requests of all days</summary>`);
    expect(html).toContain(`<code>${tokenOf(1)}</code>`);
    expect(html).toContain("50 more");
    expect(html).toContain("<details><summary>1 caller</summary>");
  });

  test("are indented rows in Markdown, below their client and below the route that they call", () => {
    const lines = FORMATS.md.write(made).split("\n");
    const row = lines.findIndex((line) => line.startsWith("| [phone](#client-"));
    expect(lines[row + 1]).toContain(`| &emsp;\`${tokenOf(1)}\``);
    const route = lines.findIndex((line) => line.startsWith("| `GET /vm/instances` |"));
    expect(lines[route + 1]).toMatch(/^\| &emsp;\[phone\].*\| \*moving\* \| 151 \|/);
  });

  test("are one client in CSV", () => {
    expect(FORMATS.csv.write(made)).toContain("\r\nagent:phone,");
  });
});

test("a period changes the requests of a client, and not its state", async () => {
  const { clients } = await reportOf({ since: "2026-03-15T00:00:00.000Z" });
  expect(clients[0]).toMatchObject({ requests: TOKENS, native: 0, readiness: "moving" });
});

describe("the states", () => {
  test("have the colours of the console in the report", () => {
    const html = FORMATS.html.write(made);
    expect(html).toContain(COLORS);
    expect(html).toContain(
      `<span class="tag ${STATE_LABELS.moving.tone}">${STATE_LABELS.moving.label}</span>`,
    );
  });
});
