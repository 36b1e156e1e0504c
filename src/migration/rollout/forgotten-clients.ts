/** Returned clients that have changed in the client directory, or are missing. */
import { type ClientDirectory, hasName, type KnownClient } from "../../audit/index.ts";
import type { Rollout } from "./sides.ts";

/** Returns the tokens, applications and patterns that a client has lost. */
function lostKeys(before: KnownClient, after: KnownClient): readonly string[] {
  const patterns = new Set(after.userAgents.map((pattern) => pattern.toLowerCase()));
  return [
    ...before.tokens.filter((token) => !after.tokens.includes(token)),
    ...before.applications.filter((id) => !after.applications.includes(id)),
    ...before.userAgents.filter((pattern) => !patterns.has(pattern.toLowerCase())),
  ];
}

/** Quotes a name for a command. Names contain no quotes. */
const word = (client: string): string => (client.includes(" ") ? `'${client}'` : client);

/**
 * Finds the clients that were moved back to the old service, and that have changed in a directory or are missing from it.
 *
 * @param active The previous directory; undefined: only names are compared
 */
export function findForgotten(
  { trips }: Pick<Rollout, "trips">,
  next: ClientDirectory,
  active: ClientDirectory | undefined,
) {
  const returned = trips().flatMap(({ kind, name }) => (kind === "client" ? [name] : []));
  return returned.filter(hasName).flatMap((client) => {
    const [before, after] = [active?.find(client), next.find(client)];
    const lost = after && before ? lostKeys(before, after) : [];
    if (after && lost.length === 0) return [];
    const taken = after ? `no longer has ${lost.join(", ")}` : "is no longer in CLIENTS_FILE";
    return {
      client,
      /** The change, and the remedy. */
      message: `the client "${client}" was returned to the old service, and ${taken}: give it back, or let the rollout forget the client with \`rollout resume ${word(client)}\``,
    };
  });
}
