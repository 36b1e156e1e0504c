/** Returned clients that the client directory no longer has in the same form. */
import { type ClientDirectory, hasName, type KnownClient } from "../../audit/index.ts";
import type { Rollout } from "./sides.ts";

/** The tokens, applications and patterns that a client no longer has. */
function lostKeys(before: KnownClient, after: KnownClient): readonly string[] {
  const patterns = new Set(after.userAgents.map((pattern) => pattern.toLowerCase()));
  return [
    ...before.tokens.filter((token) => !after.tokens.includes(token)),
    ...before.applications.filter((id) => !after.applications.includes(id)),
    ...before.userAgents.filter((pattern) => !patterns.has(pattern.toLowerCase())),
  ];
}

/** A name in a command. No name has a quote. */
const word = (client: string): string => (client.includes(" ") ? `'${client}'` : client);

/**
 * Finds the returned clients that a directory no longer has in the same form.
 *
 * @param active The directory before; undefined: only names are compared
 */
export function findForgotten(
  { returns }: Pick<Rollout, "returns">,
  next: ClientDirectory,
  active: ClientDirectory | undefined,
) {
  const returned = returns.trips().flatMap(({ kind, name }) => (kind === "client" ? [name] : []));
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
