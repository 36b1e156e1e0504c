/** Simulates a plan with the recorded calls of clients. */
import { DAY_MS, MINUTE_MS } from "../../base/index.ts";
import type { PlanClient } from "./plan-dates.ts";
import type { BrownOutStage, Decision, FieldStage, Plan, PlanConditions, Stage } from "./plan.ts";
import { summaryKeysOf } from "./proven-client.ts";
import { QUIET_MS } from "./recorded-traffic.ts";
import { createWindows, type Window } from "./windows.ts";

/** A recorded call of the old API. */
export interface PastCall {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly client: PlanClient;
  readonly route: string;
  /** The number of calls that the record represents. */
  readonly requests: number;
}

/** A simulation. Times are ISO 8601, in UTC. */
export type Simulation = Awaited<ReturnType<typeof simulatePlan>>;

interface SimulateOptions {
  readonly plan: Plan;
  readonly calls: AsyncIterable<PastCall>;
  /** Returns whether a client called before a time, in milliseconds since the epoch. */
  readonly hadCalled: (client: PlanClient, before: number) => Promise<boolean>;
  /** The current time in milliseconds since the epoch. Earlier times are not simulated. */
  readonly now: number;
}

const WEEK_MS = 7 * DAY_MS;
/** Maximum number of repeated weeks: four weeks contain each monthly job once. */
const MAX_WEEKS = 4;
/** Milliseconds. A plan without an end is simulated for a year, and no plan for more than three. */
const DEFAULT_MS = 365 * DAY_MS;
const MAX_MS = 3 * DEFAULT_MS;

/** Returns the name under which a client is counted: its own, otherwise the key of its summaries. */
const countedAs = (client: PlanClient): string | null => client.name ?? summaryKeysOf(client)[0] ?? null;

/** Calls of one client on one route in one minute. */
interface MinuteCalls extends Omit<PastCall, "time"> {
  readonly minute: number;
}

/** Counts calls by minute, client and route, because brown-outs start and end at full minutes. Sorted by time. */
async function countCalls(calls: AsyncIterable<PastCall>): Promise<readonly MinuteCalls[]> {
  const found = new Map<string, Pick<MinuteCalls, "client" | "route"> & { minutes: Map<number, number> }>();
  for await (const { time, client, route, requests } of calls) {
    const key = [client.name, ...summaryKeysOf(client), route].join("\n");
    const { minutes } = found.get(key) ?? found.set(key, { client, route, minutes: new Map() }).get(key)!;
    const minute = Math.floor(time / MINUTE_MS);
    minutes.set(minute, (minutes.get(minute) ?? 0) + requests);
  }
  return [...found.values()]
    .flatMap(({ client, route, minutes }) =>
      [...minutes].map(([minute, requests]) => ({ minute, client, route, requests })),
    )
    .sort((one, other) => one.minute - other.minute);
}

/** Counts the clients that one stage affects. */
class StageHits {
  readonly #clients = new Map<string | null, { calls: number; windows: Set<number> }>();

  add(client: PlanClient, requests: number, window?: Window): void {
    const key = countedAs(client);
    const hit = this.#clients.get(key) ?? { calls: 0, windows: new Set() };
    this.#clients.set(key, hit);
    hit.calls += requests;
    if (window) hit.windows.add(window.from);
  }

  forecast() {
    const clients = [...this.#clients]
      .map(([client, { calls, windows }]) => ({
        /** The client's name, or the fingerprint of its token; null: all calls without a token. */
        client,
        calls,
        /** For a stage with brown-outs: the number of brown-outs in which the client is affected. */
        windows: windows.size,
      }))
      .sort(
        (one, other) => other.calls - one.calls || String(one.client).localeCompare(String(other.client)),
      );
    return { calls: clients.reduce((sum, { calls }) => sum + calls, 0), clients };
  }
}

/** Records the last calls of clients that brown-outs wait for. */
function createWaiting() {
  const lastCalls = new Map<string, number>();
  const decided = new Map<string, boolean>();
  return {
    note(client: PlanClient, time: number): void {
      for (const key of [client.name, ...summaryKeysOf(client)])
        if (key !== undefined) lastCalls.set(key, time);
    },
    /** Decides once per brown-out: later calls are ignored. */
    mayBegin(stage: BrownOutStage | FieldStage, { from }: Window): boolean {
      const key = `${stage.name}\n${from}`;
      const found = decided.get(key);
      if (found !== undefined) return found;
      const isQuiet = stage.waitFor.every((name) => (lastCalls.get(name) ?? -Infinity) < from - QUIET_MS);
      decided.set(key, isQuiet);
      return isQuiet;
    },
    waitingOf: (stage: string): number =>
      [...decided].filter(([key, isQuiet]) => !isQuiet && key.startsWith(`${stage}\n`)).length,
  };
}

/** Returns the end of the recorded calls: now, unless the gateway was stopped before. */
function endOfRecords(minutes: readonly MinuteCalls[], now: number): number {
  const last = minutes.at(-1);
  const end = last === undefined ? now : (last.minute + 1) * MINUTE_MS;
  return now - end < DAY_MS ? now : end;
}

/** Maximum number of counted brown-outs. A plan has a few hundred, and counting each minute of a year would be slow. */
const MAX_WINDOWS = 10_000;

/** Returns the number of a stage's brown-outs between two times, up to a limit. */
function countWindows(stage: Stage, from: number, until: number): number {
  if (!("rule" in stage)) return 0;
  const find = createWindows(stage.rule);
  let count = 0;
  for (let window = find(from); window.from < until && count < MAX_WINDOWS; window = find(window.until))
    count += 1;
  return count;
}

/** Returns the calls of clients that had not called before a time. The store is queried once per client. */
async function callsOfNew(
  calls: readonly MinuteCalls[],
  before: number,
  hadCalled: SimulateOptions["hadCalled"],
): Promise<readonly MinuteCalls[]> {
  const known = new Map<string, boolean>();
  const found: MinuteCalls[] = [];
  for (const call of calls) {
    const key = summaryKeysOf(call.client).join("\n");
    const isKnown = known.get(key) ?? (key === "" || (await hadCalled(call.client, before)));
    known.set(key, isKnown);
    if (!isKnown) found.push(call);
  }
  return found;
}

/**
 * Repeats the last whole weeks of recorded calls until after the end of a plan, and counts the affected clients. It
 * does not predict clients that change, give up or retry.
 */
export async function simulatePlan({ plan, calls, hadCalled, now }: SimulateOptions) {
  const minutes = await countCalls(calls);
  const end = endOfRecords(minutes, now);
  const first = (minutes[0]?.minute ?? 0) * MINUTE_MS;
  // There may be no calls at the first and at the last moment of a week.
  const weeks = Math.min(MAX_WEEKS, Math.max(1, Math.floor((end - first + DAY_MS / 2) / WEEK_MS)));
  const period = weeks * WEEK_MS;
  const start = end - period;
  const repeated = minutes.filter(({ minute }) => minute * MINUTE_MS >= start);
  const horizon = Math.min(now + MAX_MS, (plan.dates.end ?? now + DEFAULT_MS) + WEEK_MS);

  const waiting = createWaiting();
  const conditions: PlanConditions = { isPaused: () => false, mayBegin: waiting.mayBegin };
  const hits = new Map(plan.stages.map(({ name }) => [name, new StageHits()]));

  function hit(decision: Decision, { client, requests }: MinuteCalls, time: number): void {
    // Calls after an end are only counted for a week.
    if (decision.kind === "end" && time >= decision.since + WEEK_MS) return;
    const window = decision.kind === "brown_out" ? decision.window : undefined;
    hits.get(decision.stage.name)?.add(client, requests, window);
  }

  for (const { client, minute } of repeated) waiting.note(client, minute * MINUTE_MS);
  for (let shift = period; start + shift < horizon; shift += period)
    for (const each of repeated) {
      const { client, route, requests } = each;
      // The middle of the minute is used, because stages start two seconds late.
      const time = each.minute * MINUTE_MS + shift + MINUTE_MS / 2;
      if (time < now || time >= horizon) continue;
      const query = { client, route, time };
      const decision = plan.decide(query, conditions);
      if (decision) hit(decision, each, time);
      else for (const { name } of plan.hiddenFields(query, conditions)) hits.get(name)?.add(client, requests);
      waiting.note(client, time);
    }

  const freezes = plan.stages.filter(({ kind }) => kind === "freeze");
  for (const { client, requests } of freezes.length > 0 ? await callsOfNew(repeated, start, hadCalled) : [])
    for (const { name } of freezes) hits.get(name)?.add(client, requests);

  return {
    /** The range of recorded weeks that is repeated. */
    recorded: {
      from: new Date(start).toISOString(),
      until: new Date(end).toISOString(),
      weeks,
      calls: repeated.reduce((sum, { requests }) => sum + requests, 0),
      clients: new Set(repeated.map(({ client }) => countedAs(client))).size,
    },
    stages: plan.stages.map((stage) => ({
      name: stage.name,
      kind: stage.kind,
      /** For a stage with brown-outs: the number of brown-outs that start. */
      windows:
        countWindows(stage, now, Math.min(horizon, plan.dates.end ?? horizon)) -
        waiting.waitingOf(stage.name),
      /** The number of brown-outs that don't start, because clients that they wait for call. */
      waiting: waiting.waitingOf(stage.name),
      // Calls in all brown-outs, in the seven days after an end, or of clients that were new at a freeze. The clients
      // with the most calls come first.
      ...(hits.get(stage.name) ?? new StageHits()).forecast(),
    })),
  };
}
