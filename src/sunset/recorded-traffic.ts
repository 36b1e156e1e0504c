/** Who called the old API lately, by the summaries of the audit store. */
import { isClientApi } from "../audit/record.ts";
import { applicationKey, identityOfKey, labelKey, UNACCEPTED } from "../audit/summary-key.ts";
import type { RouteUsage, TokenUsage, UsageReader } from "../audit/usage.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { PlanClient } from "./plan-dates.ts";

type Reader = Pick<UsageReader, "clients" | "tokens" | "usage">;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** More rows than the summaries have: the rows with the fewest calls must not be left out. */
export const ALL_ROWS = 1_000_000;

/** For how long a client of `wait_for` must be silent before a window begins, and over how many days a usual rate is. */
export const QUIET_MS = 14 * DAY_MS;

/** The keys under which summaries count the calls of a client: see `summaryKey`. */
export const summaryKeysOf = ({ label, application, fingerprint }: PlanClient): readonly string[] => [
  ...(label === undefined ? [] : [labelKey(label)]),
  ...(application === undefined ? [] : [applicationKey(application)]),
  ...(fingerprint === undefined ? [] : [fingerprint]),
];

/** What a client is called where it is counted: its name, or else the key of its summaries. */
export const clientKey = (client: PlanClient): string | undefined => client.name ?? summaryKeysOf(client)[0];

/** What a client did in the days before a window. */
interface ClientTraffic {
  /** Keys of its summaries. */
  readonly keys: Set<string>;
  /** Calls a minute, on average. */
  perMinute: number;
}

/** The accepted calls of the old API in the days before a window. */
export interface RecordedTraffic {
  /** Calls a minute of a client; undefined: no call of this token or application was accepted in these days. */
  usualRate(client: PlanClient): number | undefined;
  /** Those of some clients, by name or fingerprint, that called in these days. @throws {AuditUnavailableError} */
  calling(clients: readonly string[]): Promise<readonly string[]>;
}

/** The names of the clients of summaries, by their keys. */
export async function nameKeys(
  reader: Pick<UsageReader, "clients">,
  directory: ClientDirectory,
  range: { readonly since?: string; readonly until?: string },
): Promise<(key: string) => string | undefined> {
  const names = new Map<string, string | undefined>();
  for (const usage of await reader.clients({ ...range, limit: ALL_ROWS }))
    if (usage.client !== null && usage.client !== UNACCEPTED)
      names.set(usage.client, directory.nameOf(usage));
  return (key) => names.get(key);
}

/** Whether a row counts calls of a token that v4 accepted. */
export const isAcceptedCall = (row: RouteUsage): row is RouteUsage & { readonly client: string } =>
  isClientApi(row) && row.client !== null && row.client !== UNACCEPTED;

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
  const nameOf = await nameKeys(reader, directory, range);
  const byClient = new Map<string, ClientTraffic>();
  const called = new Set<string>();
  for (const row of await reader.usage({ ...range, isClientApi: true, limit: ALL_ROWS })) {
    if (!isAcceptedCall(row)) continue;
    const { client: key, first, last, requests } = row;
    const client = nameOf(key) ?? key;
    const traffic = byClient.get(client) ?? { keys: new Set(), perMinute: 0 };
    byClient.set(client, traffic);
    traffic.keys.add(key);
    traffic.perMinute += requests / (QUIET_MS / MINUTE_MS);
    // Summaries are by day: their first and last days have calls outside of these two weeks.
    if (first < range.until && last >= range.since) called.add(client).add(key);
  }
  /** Whether a token called: its calls are perhaps counted together with those of others. */
  function hasCalled({ client, lastAlpha }: TokenUsage): boolean {
    if (lastAlpha === null || lastAlpha < range.since) return false;
    // A call after the start hides when it called before.
    return lastAlpha < range.until || called.has(client);
  }

  async function isCalling(client: string): Promise<boolean> {
    if (called.has(client)) return true;
    const listed = directory.find(client);
    const isOf = ({ client: key, fingerprint, userAgent }: TokenUsage): boolean =>
      !listed || directory.nameOf({ ...identityOfKey(key), fingerprint, userAgent }) === client;
    const tokens = await reader.tokens({ fingerprints: listed ? listed.tokens : [client] });
    return tokens.some((token) => isOf(token) && hasCalled(token));
  }

  return {
    usualRate(client) {
      const keys = summaryKeysOf(client);
      return [clientKey(client) ?? "", ...keys]
        .map((key) => byClient.get(key))
        .find((traffic) => traffic && keys.some((key) => traffic.keys.has(key)))?.perMinute;
    },
    async calling(clients) {
      const found: string[] = [];
      for (const client of clients) if (await isCalling(client)) found.push(client);
      return found;
    },
  };
}
