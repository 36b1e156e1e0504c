/** Who called the old API lately, by the summaries of the audit store. */
import type { RouteUsage, UsageReader } from "../audit/usage.ts";
import { UNACCEPTED } from "../audit/usage.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { PlanClient } from "./plan-dates.ts";

type Reader = Pick<UsageReader, "clients" | "usage">;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** More rows than the summaries have: the rows with the fewest calls must not be left out. */
export const ALL_ROWS = 1_000_000;

/** For how long a client of `wait_for` must be silent before a window begins, and over how many days a usual rate is. */
export const QUIET_MS = 14 * DAY_MS;

/** What a client did in the days before a window. */
interface ClientTraffic {
  /** Accepted tokens by which it called. */
  readonly fingerprints: Set<string>;
  /** Calls a minute, on average. */
  perMinute: number;
}

/** The accepted calls of the old API in the days before a window. */
export interface RecordedTraffic {
  /** Calls a minute of the client of a token; undefined: v4 accepted no call with this token in these days. */
  usualRate(client: PlanClient): number | undefined;
  /** Those of some clients, by name or fingerprint, that called in these days. */
  calling(clients: readonly string[]): readonly string[];
}

/** The names of the tokens of summaries. */
export async function nameTokens(
  reader: Pick<UsageReader, "clients">,
  directory: ClientDirectory,
  range: { readonly since?: string; readonly until?: string },
): Promise<(fingerprint: string) => string | undefined> {
  const agents = new Map<string, string | null>();
  for (const { client, userAgent } of await reader.clients({ ...range, limit: ALL_ROWS }))
    if (client !== null && client !== UNACCEPTED) agents.set(client, userAgent);
  return (fingerprint) => directory.nameOf({ fingerprint, userAgent: agents.get(fingerprint) });
}

/** Whether a row counts calls of a token that v4 accepted. */
export const isAcceptedCall = (row: RouteUsage): row is RouteUsage & { readonly client: string } =>
  row.lane === "alpha" && row.client !== null && row.client !== UNACCEPTED;

/**
 * Reads what was called in the 14 days before a window. The result is the same on all replicas that share the store, and
 * after a restart within the window: calls after its start don't count.
 *
 * @param start of the window, in milliseconds since the epoch
 * @throws {AuditUnavailableError}
 */
export async function readTraffic(
  reader: Reader,
  directory: ClientDirectory,
  start: number,
): Promise<RecordedTraffic> {
  const range = {
    since: new Date(start - QUIET_MS).toISOString(),
    until: new Date(start).toISOString(),
  };
  const nameOf = await nameTokens(reader, directory, range);
  const byKey = new Map<string, ClientTraffic>();
  const called = new Set<string>();
  for (const row of await reader.usage({ ...range, limit: ALL_ROWS })) {
    if (!isAcceptedCall(row)) continue;
    const { client: fingerprint, first, last, requests } = row;
    const key = nameOf(fingerprint) ?? fingerprint;
    const traffic = byKey.get(key) ?? { fingerprints: new Set(), perMinute: 0 };
    byKey.set(key, traffic);
    traffic.fingerprints.add(fingerprint);
    traffic.perMinute += requests / (QUIET_MS / MINUTE_MS);
    // Summaries are by day: their first and last days have calls outside of these two weeks.
    if (first < range.until && last >= range.since) called.add(key).add(fingerprint);
  }
  return {
    usualRate({ name, fingerprint }) {
      if (fingerprint === undefined) return undefined;
      const traffic = byKey.get(name ?? fingerprint);
      return traffic?.fingerprints.has(fingerprint) ? traffic.perMinute : undefined;
    },
    calling: (clients) => clients.filter((client) => called.has(client)),
  };
}
