/** Finds the callers of the old API before a window, from the summaries of the audit store. */
import {
  type ClientCalls,
  type ClientDirectory,
  type DecisionReader,
  identityOfKey,
  type TokenUsage,
} from "../../audit/index.ts";
import { DAY_MS, MINUTE_MS } from "../../base/index.ts";
import { listedKeys } from "./proven-client.ts";

/**
 * How many days a client of `wait_for` must be silent before a window begins, and how many days a usual rate covers.
 */
export const QUIET_MS = 14 * DAY_MS;

/** The 14 days before a window. Calls after its start don't count: the result is the same after a restart within it. */
const rangeBefore = (start: number) => ({
  since: new Date(start - QUIET_MS).toISOString(),
  until: new Date(start).toISOString(),
});

/**
 * Reads how many calls a minute a client sent on average in the 14 days before a window.
 *
 * @param clients All keys of the client
 * @param start of the window, in milliseconds since the epoch
 * @returns undefined if no call was accepted in these days
 * @throws {AuditUnavailableError}
 */
export async function readUsualRate(
  decisions: Pick<DecisionReader, "callsOf">,
  clients: readonly string[],
  start: number,
): Promise<number | undefined> {
  const { requests } = await decisions.callsOf({ clients, ...rangeBefore(start) });
  return requests === 0 ? undefined : requests / (QUIET_MS / MINUTE_MS);
}

/**
 * Finds which of some clients called in the 14 days before a window. The result is the same on all replicas that share the store.
 *
 * @param names Names of the directory, or fingerprints
 * @param start of the window, in milliseconds since the epoch
 * @throws {AuditUnavailableError}
 */
export async function findCalling(
  decisions: DecisionReader,
  directory: ClientDirectory,
  names: readonly string[],
  start: number,
): Promise<readonly string[]> {
  const range = rangeBefore(start);
  const calling = new Set<string>();
  const callsOf = (clients: readonly string[]): Promise<ClientCalls> =>
    decisions.callsOf({ clients, ...range });

  for (const name of names) {
    const entry = directory.find(name);
    const { hasCalled } = await callsOf(entry ? listedKeys(entry) : [name]);
    if (hasCalled) calling.add(name);
  }

  /** The names that belong to a token. It may be counted under its application, or be named by its user agent. */
  function namesOfToken({ client, fingerprint, userAgent }: TokenUsage): readonly string[] {
    const named = directory.nameOf({ ...identityOfKey(client), fingerprint, userAgent });
    return names.filter((name) => !calling.has(name) && (name === named || name === fingerprint));
  }

  /** A call after the start hides when the token called before. */
  const hasCalled = async ({ client, lastAlpha }: TokenUsage): Promise<boolean> =>
    (lastAlpha ?? "") < range.until || (await callsOf([client])).hasCalled;

  for (let after: string | undefined = ""; after !== undefined && calling.size < names.length;) {
    const page: readonly TokenUsage[] = await decisions.tokenPage({ after, since: range.since });
    for (const token of page) {
      const found = namesOfToken(token);
      if (found.length > 0 && (await hasCalled(token))) for (const name of found) calling.add(name);
    }
    after = page.at(-1)?.fingerprint;
  }
  return names.filter((name) => calling.has(name));
}
