/** The keys under which the client of a name is counted. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import { applicationKey, labelKey, UNACCEPTED } from "./summary-key.ts";
import type { ClientUsage } from "./usage.ts";

/** The name of a counted client; undefined for one that the directory does not have. */
export const nameOfUsage = (
  directory: ClientDirectory,
  usage: Pick<ClientUsage, "client" | "label" | "application" | "fingerprint" | "userAgent">,
): string | undefined =>
  usage.client === null || usage.client === UNACCEPTED ? undefined : directory.nameOf(usage);

/**
 * Returns the keys of a named client: its label, its applications and its tokens, and all counted clients that have its name
 * by their user agent.
 *
 * @param counted All clients of the summaries.
 * @returns Undefined for a name that the directory does not have.
 */
export function keysOfName(
  directory: ClientDirectory,
  name: string,
  counted: readonly ClientUsage[],
): readonly string[] | undefined {
  const known = directory.find(name);
  if (!known) return undefined;
  const ofUsage = counted.flatMap((usage) =>
    nameOfUsage(directory, usage) === name ? (usage.client ?? []) : [],
  );
  return [
    ...new Set([labelKey(name), ...known.applications.map(applicationKey), ...known.tokens, ...ofUsage]),
  ];
}
