/** Finds the callers of the old API before a brown-out, from the summaries of the audit store. */
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
 * The time in milliseconds for which a client of `wait_for` must be silent before a brown-out starts. The usual number
 * of requests of a client per minute is the average over this time, too.
 */
export const QUIET_MS = 14 * DAY_MS;

/** The 14 days before a brown-out. Calls after its start are ignored, so that the result is the same after a restart. */
const rangeBefore = (start: number) => ({
  since: new Date(start - QUIET_MS).toISOString(),
  until: new Date(start).toISOString(),
});

/**
 * Reads the average number of calls per minute that a client sent in the 14 days before a brown-out.
 *
 * @param clients All keys of the client
 * @param start The start of the brown-out, in milliseconds since the epoch
 * @returns undefined if no call was accepted on these days
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
 * Finds the clients, out of some, that called in the 14 days before a brown-out. The result is the same on all replicas
 * that share the store.
 *
 * @param names Names in the directory, or fingerprints
 * @param start The start of the brown-out, in milliseconds since the epoch
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

  /** Returns the names that belong to a token. It may be counted under its application, or be named by its user agent. */
  function namesOfToken({ client, fingerprint, userAgent }: TokenUsage): readonly string[] {
    const named = directory.nameOf({ ...identityOfKey(client), fingerprint, userAgent });
    return names.filter((name) => !calling.has(name) && (name === named || name === fingerprint));
  }

  /** Reads whether a token called before the start, because a later call hides its earlier ones. */
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
