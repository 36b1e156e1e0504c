/** A simulated plan, compared with what it then does: 200 clients of six temperaments, by a clock that the test moves. */
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { NO_CLIENTS } from "../../../src/audit/clients/client-directory.ts";
import { readOperatorFile } from "../../../src/base/files/operator-file.ts";
import { createPlan } from "../../../src/migration/plan/plan.ts";
import { simulatePlan, type PastCall } from "../../../src/migration/plan/simulate.ts";
import { planFile } from "../../../src/migration/plan/plan-file.ts";
import { allBut } from "../../support/fake-time.ts";
import { acceptGoodTokens } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

const ROUTE = "GET /vm/instances";
const MINUTE_MS = 60_000;
const HOUR = 60;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
/** Calls of the same ten minutes are sent together, for the speed of the test. */
const TOGETHER = 10;

/** Mondays: two weeks are recorded, two have windows, and one is after the end. */
const RECORDED = Date.parse("2026-06-01T00:00:00Z");
const PLANNED = Date.parse("2026-06-15T00:00:00Z");
const PLAN = `announced: 2026-01-01
end: 2026-06-29
stages: [{ name: windows, brown_out: "0 10 * * 1,3", for: 4h, from: 2026-06-15 }]
`;

/** Numbers from 0 to 1 that are the same in each run (a linear congruential generator). */
function seededRandom(): () => number {
  let state = 42;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

interface Client {
  readonly token: string;
  readonly temperament: string;
  /** The minutes of its own calls, from the start on. */
  readonly calls: readonly number[];
  /** The minutes of what it sends because of a refusal. */
  react(minute: number, retryAfterSeconds: number): readonly number[];
}

const NO_REACTION = (): readonly number[] => [];

/** Everybody has habits, and is some minutes early or late. */
function createClients(): readonly Client[] {
  const random = seededRandom();
  const minutes = 5 * WEEK;
  const between = (least: number, most: number): number => Math.floor(least + random() * (most - least));
  const each = (first: number, period: number, isDay: (day: number) => boolean = () => true): number[] => {
    const calls: number[] = [];
    for (let at = first; at < minutes - 10; at += period) {
      const minute = Math.max(0, Math.round((at + between(-8, 8)) / TOGETHER) * TOGETHER);
      if (isDay(Math.floor(minute / DAY) % 7)) calls.push(minute);
    }
    return calls;
  };
  const isWorkday = (day: number): boolean => day < 5;
  const temperaments: [string, number, () => Pick<Client, "calls" | "react">][] = [
    ["steady", 40, () => ({ calls: each(between(0, 12 * HOUR), 12 * HOUR), react: NO_REACTION })],
    [
      "office hours",
      40,
      () => ({
        calls: [9, 14].flatMap((hour) => each(between(hour * HOUR, (hour + 3) * HOUR), DAY, isWorkday)),
        react: NO_REACTION,
      }),
    ],
    ["nightly", 40, () => ({ calls: each(between(HOUR, 4 * HOUR), DAY), react: NO_REACTION })],
    ["weekly", 30, () => ({ calls: each(between(9 * HOUR, 15 * HOUR), WEEK), react: NO_REACTION })],
    [
      "patient",
      30,
      () => ({
        calls: each(between(0, 12 * HOUR), 12 * HOUR),
        react: (minute, seconds) => (seconds > 0 ? [minute + Math.ceil(seconds / 60)] : []),
      }),
    ],
    [
      "impatient",
      20,
      () => ({
        calls: each(between(0, 12 * HOUR), 12 * HOUR),
        react: (minute) => [minute + 1, minute + 2],
      }),
    ],
  ];
  return temperaments.flatMap(([temperament, count, habits]) =>
    Array.from({ length: count }, (_, index) => ({
      token: `good-${temperament.replace(" ", "-")}-${index}`,
      temperament,
      ...habits(),
    })),
  );
}

let gateway: ListeningGatewayWithFakeV4;
beforeEach(() => {
  jest.useFakeTimers({ now: RECORDED, doNotFake: allBut("Date") });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Sends what is due in each minute, and what follows from refusals. */
async function runClients(clients: readonly Client[], from: number, until: number): Promise<void> {
  const due = new Map<number, { client: Client; isReaction: boolean }[]>();
  const add = (minute: number, client: Client, isReaction: boolean): void =>
    void due.set(minute, [...(due.get(minute) ?? []), { client, isReaction }]);
  for (const client of clients)
    for (const minute of client.calls) if (minute >= from && minute < until) add(minute, client, false);
  for (let minute = from; minute < until; minute += 1) {
    const calls = due.get(minute);
    if (!calls) continue;
    jest.setSystemTime(RECORDED + minute * MINUTE_MS + MINUTE_MS / 2);
    await Promise.all(
      calls.map(async ({ client, isReaction }) => {
        const { status, headers } = await gateway.request(ROUTE, { as: client.token });
        if (status === 200 || isReaction) return;
        for (const next of client.react(minute, Number(headers.get("retry-after") ?? 0)))
          add(next, client, true);
      }),
    );
  }
}

/** All records from a time on, newest first, once all are committed. */
async function readRecords(since: number): Promise<readonly AuditRecord[]> {
  await waitFor(async () => {
    const { text } = await gateway.requestAdmin("GET /metrics");
    return /^alpha_gateway_audit_queued 0$/m.test(text);
  });
  const records: AuditRecord[] = [];
  let before = "";
  do {
    const query = `limit=500&since=${new Date(since).toISOString()}${before && `&before=${before}`}`;
    const { body } = await gateway.requestAdmin(`GET /api/audit?${query}`);
    records.push(...body.records);
    before = body.next ?? "";
  } while (before !== "");
  return records;
}

async function* toCalls(records: readonly AuditRecord[]): AsyncGenerator<PastCall> {
  for (const { time, client, alpha } of records)
    yield {
      time: Date.parse(time),
      client: { name: undefined, fingerprint: client.fingerprint ?? undefined },
      route: alpha.route ?? "",
      requests: 1,
    };
}

/** Whether a figure is within five per cent of another. */
function expectWithinFivePercent(what: string, foreseen: number, actual: number): void {
  const isWithin = Math.abs(foreseen - actual) <= 0.05 * actual;
  expect({ what, foreseen, actual, isWithin }).toMatchObject({ isWithin: true });
}

test("a simulation foresees within five per cent whom windows and the end hit, and how often", async () => {
  const file = writeOperatorFile(PLAN);
  gateway = await startListeningGatewayWithFakeV4({
    SUNSET_FILE: file,
    AUDIT: "full",
    AUDIT_RETENTION_DAYS: "36500",
  });
  gateway.v4.respondWith(acceptGoodTokens);
  const clients = createClients();
  expect(clients).toHaveLength(200);

  await runClients(clients, 0, 2 * WEEK);
  jest.setSystemTime(PLANNED);
  const plan = createPlan(
    readOperatorFile(
      file,
      planFile(() => ({
        routes: [ROUTE],
        fields: new Map(),
        directory: NO_CLIENTS,
        hasAudit: true,
        published: undefined,
      })),
    ),
  );
  const { stages, recorded } = await simulatePlan({
    plan,
    calls: toCalls(await readRecords(RECORDED)),
    hadCalled: async (_client, before) => RECORDED < before,
    now: PLANNED,
  });
  const [windows, end] = stages;
  expect([recorded.weeks, recorded.clients, windows?.windows]).toEqual([2, 200, 4]);

  await runClients(clients, 2 * WEEK, 5 * WEEK);
  const actual = await readRecords(PLANNED);
  // Nobody foresees retries: their calls are left out, and these clients are not.
  const retrying = new Set(
    clients
      .filter(({ temperament }) => temperament === "impatient")
      .map(({ token }) => fingerprint(tokenHash(token))),
  );
  const hitBy = (reason: string) => actual.filter(({ rejectedBy }) => rejectedBy === reason);
  const clientsIn = (records: readonly AuditRecord[]) =>
    new Set(records.map(({ client }) => client.fingerprint)).size;
  const callsIn = (records: readonly AuditRecord[]) =>
    records.filter(({ client }) => !retrying.has(client.fingerprint ?? "")).length;
  const foreseenCalls = (stage: typeof windows) =>
    (stage?.clients ?? [])
      .filter(({ client }) => !retrying.has(client ?? ""))
      .reduce((sum, { calls }) => sum + calls, 0);

  expectWithinFivePercent("clients in windows", windows?.clients.length ?? 0, clientsIn(hitBy("brown_out")));
  expectWithinFivePercent("calls in windows", foreseenCalls(windows), callsIn(hitBy("brown_out")));
  expectWithinFivePercent("clients after the end", end?.clients.length ?? 0, clientsIn(hitBy("sunset")));
  expectWithinFivePercent("calls after the end", foreseenCalls(end), callsIn(hitBy("sunset")));
}, 180_000);
