/** How far the migration of a client is: the one place that decides it, for the console, the report, notices and commands. */
import { agentFamily } from "../clients/agent-pattern.ts";
import { isClientApi } from "../record/record.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { CallSpan, SpanQuery } from "./call-spans.ts";
import { MOST_FAMILIES } from "./count-agents.ts";
import { familyKeyOf, nameOfUsage } from "./client-keys.ts";
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

const DAY_MS = 86_400_000;

/** When a client counts as quiet. */
export interface QuietTime {
  /** Days without a request. */
  readonly quietDays: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The counts of a client's calls. Without a longest pause none is known. */
type Calls = Pick<ClientUsage, "client" | "lastAlpha" | "lastNative"> &
  Partial<Pick<ClientUsage, "longestPauseMs">>;

/**
 * Returns the state of a client.
 *
 * @returns null for requests without a token and for tokens that v4 never accepted: they are nobody's migration
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
 * The day on which a client called alpha again after it had been ready: after a pause of more than the quiet days and of any
 * before, with a day of native calls in it. The pauses within a span are shorter, so a native span that reaches into the pause
 * has such a day.
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

/** Whether a client has paused for longer than the quiet time before, and called alpha again. */
const isPauseLonger = (
  { longestPauseMs }: Pick<ClientUsage, "longestPauseMs">,
  { quietDays }: Pick<QuietTime, "quietDays">,
): boolean => longestPauseMs !== null && longestPauseMs > quietDays * DAY_MS;

/** The whole days of the longest pause. */
export const pauseDays = ({ longestPauseMs }: Pick<ClientUsage, "longestPauseMs">): number =>
  Math.floor((longestPauseMs ?? 0) / DAY_MS);

/** The description of a client's migration for people. */
export interface Migration {
  readonly state: MigrationState | null;
  /** The day on which it called alpha again after it had been ready; null if it did not, or is ready again. */
  readonly cameBack: string | null;
  /** Whether it is ready only after a pause that is longer than the quiet time, since it had such a pause before. */
  readonly isPauseLonger: boolean;
}

/**
 * Creates the function that judges clients.
 *
 * @param spans Those of {@link spansOf}
 * @param clients Whose keys are counted together
 */
export function createMigrationJudge(
  spans: readonly CallSpan[],
  clients: readonly Pick<NamedClient, "client" | "keys">[],
  quiet: QuietTime,
): (usage: ClientUsage) => Migration {
  const spansOfKey = groupSpans(spans, clients);
  return (usage) => {
    const state = migrationStateOf(usage, quiet);
    return {
      state,
      cameBack: cameBackOn(spansOfKey(usage.client), state, quiet),
      isPauseLonger: isPauseLonger(usage, quiet),
    };
  };
}

/** A client as people see it: its name, its state, and the keys under which it is counted. */
export interface NamedClient extends ClientUsage {
  /** Its name in the client directory; null if it has none. */
  readonly name: string | null;
  readonly keys: readonly (string | null)[];
}

/** The query of the spans that a judgement needs for the clients of a query: of all days, whatever the query's are. */
export const spansOf = (query: UsageQuery, { quietDays: days }: Pick<QuietTime, "quietDays">): SpanQuery => ({
  days,
  clients: usageKeysOf(query),
});

/** Finds the spans of the client of a key: those of all keys of its name. */
function groupSpans(
  spans: readonly CallSpan[],
  clients: readonly Pick<NamedClient, "client" | "keys">[],
): (key: string | null) => readonly CallSpan[] {
  const firstKeys = new Map(clients.flatMap(({ client, keys }) => keys.map((key) => [key, client] as const)));
  const firstKeyOf = (key: string | null): string | null => firstKeys.get(key) ?? key;
  const byClient = Map.groupBy(spans, ({ client }) => firstKeyOf(client));
  return (key) => byClient.get(firstKeyOf(key)) ?? [];
}

const later = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && other > one) ? other : one;

/** The other programs of two keys of one client, the last user agent of each. */
function joinAgents(latest: string | null, client: ClientUsage, other: ClientUsage): readonly string[] {
  const families = new Map<string | undefined, string>();
  for (const { userAgent, otherAgents = [] } of [client, other])
    for (const agent of [userAgent, ...otherAgents])
      if (agent !== null && !families.has(agentFamily(agent))) families.set(agentFamily(agent), agent);
  families.delete(agentFamily(latest));
  return [...families.values()].slice(0, MOST_FAMILIES - 1);
}

/** Adds the counts of another key of the same client. */
function addUsage(client: NamedClient, other: ClientUsage): NamedClient {
  const isLater = other.last > client.last;
  const userAgent = isLater ? (other.userAgent ?? client.userAgent) : (client.userAgent ?? other.userAgent);
  const otherAgents = joinAgents(userAgent, client, other);
  const pauses = [client.longestPauseMs, other.longestPauseMs].filter((pause) => pause !== null);
  return {
    ...client,
    label: client.label ?? other.label,
    application: client.application ?? other.application,
    fingerprint: client.fingerprint ?? other.fingerprint,
    userAgent,
    ...(otherAgents.length > 0 && { otherAgents }),
    requests: client.requests + other.requests,
    errors: client.errors + other.errors,
    lossy: client.lossy + other.lossy,
    native: client.native + other.native,
    tokens: client.tokens + other.tokens,
    first: other.first < client.first ? other.first : client.first,
    last: isLater ? other.last : client.last,
    lastAlpha: later(client.lastAlpha, other.lastAlpha),
    lastNative: later(client.lastNative, other.lastNative),
    // Another key may have called meanwhile: then no pause is known to be shorter.
    longestPauseMs: pauses.length === 0 ? null : Math.max(...pauses),
  };
}

/** Adds up the counts of keys that belong to the same client. The order stays that of the first key. */
function addKeys(
  counted: readonly ClientUsage[],
  directory: ClientDirectory,
  groupOf: (usage: ClientUsage) => string,
): NamedClient[] {
  const clients = new Map<string, NamedClient>();
  const keys = new Map<string, (string | null)[]>();
  for (const usage of counted) {
    const name = nameOfUsage(directory, usage);
    const id = name === undefined ? groupOf(usage) : `name ${name}`;
    const client = clients.get(id);
    const ofClient = keys.get(id) ?? [];
    ofClient.push(usage.client);
    keys.set(id, ofClient);
    clients.set(id, client ? addUsage(client, usage) : { ...usage, name: name ?? null, keys: ofClient });
  }
  return [...clients.values()];
}

/** Gives clients their names. Keys of one name become one client. The order stays that of the first key. */
export const nameClients = (counted: readonly ClientUsage[], directory: ClientDirectory): NamedClient[] =>
  addKeys(counted, directory, ({ client }) => `key ${client}`);

/** The same, and tokens without a name become one client for each family of user agents. */
export const groupClients = (counted: readonly ClientUsage[], directory: ClientDirectory): NamedClient[] =>
  addKeys(counted, directory, (usage) => familyKeyOf(usage) ?? `key ${usage.client}`);
