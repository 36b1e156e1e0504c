/** Clients of which something is remembered that no longer applies to them, since the client directory has changed. */
import type { ClientDirectory, KnownClient } from "../clients/client-directory.ts";
import { hasName } from "./clients.ts";
import type { Rollout } from "./rollout.ts";

/** A client whose writes or return a directory would make those of nobody. */
export interface ForgottenClient {
  readonly client: string;
  /** What is remembered, what has changed, and what to do. */
  readonly message: string;
}

/** What a client was known by, and is no longer. */
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

const turnBackText = (client: string): string => `\`rollout turn-back ${word(client)} --accept-lost-writes\``;

/**
 * Finds the clients that have written to a service with data of its own, or were turned back, and that a directory no longer
 * has as they were.
 *
 * @param active The directory before; undefined: only names are compared
 */
export function findForgotten(
  { plan, returns, noWayBack }: Pick<Rollout, "plan" | "returns" | "noWayBack">,
  next: ClientDirectory,
  active: ClientDirectory | undefined,
): readonly ForgottenClient[] {
  const writers = plan().data.kind === "separate" ? Object.keys(noWayBack.writers()) : [];
  const returned = returns.trips().flatMap(({ kind, name }) => (kind === "client" ? [name] : []));
  return [...new Set([...writers, ...returned])].filter(hasName).flatMap((client) => {
    const [before, after] = [active?.find(client), next.find(client)];
    const lost = after && before ? lostKeys(before, after) : [];
    if (after && lost.length === 0) return [];
    const hasWritten = writers.includes(client);
    const remembered = hasWritten ? "has written to the new service" : "was returned to the old service";
    const taken = after ? `no longer has ${lost.join(", ")}` : "is no longer in CLIENTS_FILE";
    const resume = `\`rollout resume ${word(client)}\``;
    const forget = hasWritten ? `${turnBackText(client)} and ${resume}` : resume;
    return {
      client,
      message: `the client "${client}" ${remembered}, and ${taken}: give it back, or let the rollout forget the client with ${forget}`,
    };
  });
}

/**
 * Finds clients that the file leaves with the old service, and that have got a token, an application or a pattern since clients
 * without a name have written to the new one: what came with it may have written there.
 */
export function findJoined(
  { plan, noWayBack, decide }: Pick<Rollout, "plan" | "noWayBack" | "decide">,
  directory: ClientDirectory,
): readonly ForgottenClient[] {
  if (plan().data.kind !== "separate") return [];
  return directory.clients
    .filter(({ name }) => noWayBack.mayHaveWritten(name) === "keys" && decide(name, null).side === "old")
    .map(({ name: client }) => ({
      client,
      message: `the client "${client}" is with the old service, and has got a token, an application or a pattern since clients without a name have written to the new one: give that a name of its own, or accept that writes may be lost with ${turnBackText(client)}`,
    }));
}
