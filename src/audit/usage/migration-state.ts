/** The state of a client's migration. Only this code decides it, for the console, the report, notices and commands. */
import { DAY_MS } from "../../base/index.ts";
import { isClientApi } from "../record/record.ts";
import type { CallSpan, SpanQuery } from "./usage-reader.ts";
import { indexGroups, type NamedClient } from "./name-clients.ts";
import { UNACCEPTED } from "./summary-key.ts";
import { dayNumber, usageKeysOf, type ClientUsage, type UsageQuery } from "./usage.ts";

/**
 * | State | Requests within the quiet time |
 * |---|---|
 * | `not begun` | alpha, and there was never a native one |
 * | `moving` | alpha, and there were native ones; or native only, and alpha within the longest pause of the client so far |
 * | `ready` | native only |
 * | `silent` | none: whether the client has migrated is unknown |
 */
export type MigrationState = "not begun" | "moving" | "ready" | "silent";

/** The time after which a client is quiet. */
export interface QuietTime {
  /** Number of days without a request. */
  readonly quietDays: number;
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
}

/** The times of a client's calls. If the longest pause is missing, it is unknown. */
type Calls = Pick<ClientUsage, "client" | "lastAlpha" | "lastNative"> &
  Partial<Pick<ClientUsage, "longestPauseMs">>;

/**
 * Returns the state of a client.
 *
 * @returns null for requests without a token and for tokens that v4 never accepted, because they belong to no known
 *   client
 */
export function migrationStateOf(
  { client, lastAlpha, lastNative, longestPauseMs }: Calls,
  { quietDays, now }: QuietTime,
): MigrationState | null {
  if (client === null || client === UNACCEPTED) return null;
  const quietMs = quietDays * DAY_MS;
  const isWithin = (last: string | null, ms: number): boolean =>
    last !== null && now - Date.parse(last) <= ms;
  if (isWithin(lastAlpha, quietMs)) return lastNative === null ? "not begun" : "moving";
  if (!isWithin(lastNative, quietMs)) return "silent";
  // A job that runs once a month is not ready after a week.
  return isWithin(lastAlpha, longestPauseMs ?? 0) ? "moving" : "ready";
}

/**
 * The day on which a client called alpha again after it had been ready: after a pause that is longer than the quiet
 * days and all earlier pauses, and contains a day of native calls. The pauses within a span are shorter, so a native
 * span that overlaps the pause contains such a day.
 *
 * @param spans The days with calls of all keys of the client, for the same quiet days
 * @returns The day of the last return, `2026-03-01`; null for a client that never returned, or is ready again
 */
export function cameBackOn(
  spans: readonly Pick<CallSpan, "lane" | "firstDay" | "lastDay">[],
  state: MigrationState | null,
  { quietDays }: Pick<QuietTime, "quietDays">,
): string | null {
  if (state === null || state === "ready") return null;
  const native = spans.filter((span) => !isClientApi(span));
  let longestPause = quietDays;
  let lastAlpha: string | undefined;
  let returned: string | null = null;
  for (const { firstDay, lastDay } of spans.filter(isClientApi).toSorted(byFirstDay)) {
    const pause =
      lastAlpha === undefined ? 0 : dayNumber(Date.parse(firstDay)) - dayNumber(Date.parse(lastAlpha));
    if (lastAlpha !== undefined && pause > longestPause) {
      const pauseBegan = lastAlpha;
      if (native.some((span) => span.lastDay > pauseBegan && span.firstDay < firstDay)) returned = firstDay;
      longestPause = pause;
    }
    if (lastAlpha === undefined || lastDay > lastAlpha) lastAlpha = lastDay;
  }
  return returned;
}

const byFirstDay = (one: Pick<CallSpan, "firstDay">, other: Pick<CallSpan, "firstDay">): number =>
  one.firstDay < other.firstDay ? -1 : 1;

/** Returns the longest pause in whole days. */
export const pauseDays = ({ longestPauseMs }: Pick<ClientUsage, "longestPauseMs">): number =>
  Math.floor((longestPauseMs ?? 0) / DAY_MS);

/** The description of a client's migration for people. */
export interface Migration {
  readonly state: MigrationState | null;
  /** The day on which the client called alpha again after it had been ready; null if it did not, or is ready again. */
  readonly cameBack: string | null;
  /** Whether the client is only ready after a pause that is longer than the quiet time, since it had such a pause before. */
  readonly isPauseLonger: boolean;
}

/** Returns the query of the spans that are needed to judge the clients of a query. It always includes all days. */
export const spansOf = (query: UsageQuery, { quietDays: days }: Pick<QuietTime, "quietDays">): SpanQuery => ({
  days,
  clients: usageKeysOf(query),
});

/**
 * Creates the function that judges clients.
 *
 * @param spans the result of {@link spansOf}
 * @param clients the clients, whose keys are counted together
 */
export function createMigrationJudge(
  spans: readonly CallSpan[],
  clients: readonly Pick<NamedClient, "client" | "keys">[],
  quiet: QuietTime,
): (usage: ClientUsage) => Migration {
  const groupOf = indexGroups(clients);
  const firstKeyOf = (key: string | null): string | null => groupOf(key)?.client ?? key;
  const byClient = Map.groupBy(spans, ({ client }) => firstKeyOf(client));
  return (usage) => {
    const state = migrationStateOf(usage, quiet);
    return {
      state,
      cameBack: cameBackOn(byClient.get(firstKeyOf(usage.client)) ?? [], state, quiet),
      isPauseLonger: (usage.longestPauseMs ?? 0) > quiet.quietDays * DAY_MS,
    };
  };
}
