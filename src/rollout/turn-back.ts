/** Turns something back because a person says so, and says what that costs. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import { hasName, namesOf, UNNAMED } from "./clients.ts";
import type { NoWayBack } from "./no-way-back.ts";
import type { RolloutAction } from "./returns.ts";
import type { Rollout } from "./rollout.ts";
import type { TripTarget } from "./trips.ts";

/** It can't be done like this. The message says why, and what to do. */
export class RolloutRefusedError extends Error {
  override readonly name = "RolloutRefusedError";
  readonly code = "AG_ROLLOUT_REFUSED";
}

const ALL: TripTarget = { kind: "all", name: "all" };

/**
 * What a name in a command means: `all`, a route of the pack, or a client. A client that the directory no longer has can be
 * named while its writes are remembered.
 *
 * @throws {RolloutRefusedError}
 */
export function findTarget(
  name: string,
  routes: readonly string[],
  directory: ClientDirectory,
  { noWayBack }: Pick<Rollout, "noWayBack">,
): TripTarget {
  if (name === ALL.name) return ALL;
  if (routes.includes(name)) return { kind: "route", name };
  const [, application] = /^application:(.+)$/.exec(name) ?? [];
  const owner = application === undefined ? undefined : directory.nameOf({ application });
  if (owner !== undefined)
    throw new RolloutRefusedError(
      `CLIENTS_FILE has the application ${application} as ${owner}: name ${owner}.`,
    );
  // Of other applications nobody knows all ids.
  const isRemembered = hasName(name) && noWayBack.writesOf(name) !== undefined;
  if (directory.find(name) || application !== undefined || isRemembered) return { kind: "client", name };
  throw new RolloutRefusedError(
    `There is no route and no client "${name}": name a route of the pack, a client of CLIENTS_FILE, or all.`,
  );
}

/** What was turned back. */
export interface TurnedBack {
  /** Writes at the new service that are lost. */
  readonly lostWrites: number;
  /** Clients that stay, since they have written to the new service. */
  readonly staying: readonly string[];
  /** Clients that stay, since they may have written to it: see `Rollout.possibleWriters`. */
  readonly possiblyStaying: readonly string[];
  /** Clients whose requests with tokens of the gateway stay. */
  readonly withTokens: readonly string[];
}

/** A client as people read it. */
export const clientText = (client: string): string =>
  client === UNNAMED ? "clients without a name" : client;

const COST = "The old service does not have these writes. To lose them, accept lost writes.";

/** Refuses to turn a client back that loses writes, or may lose some. @throws {RolloutRefusedError} */
function refuseLostWrites(name: string, writes: number, noWayBack: NoWayBack): void {
  if (writes > 0)
    throw new RolloutRefusedError(`${name} has written ${writes} times to the new service. ${COST}`);
  const unnamed = noWayBack.writesOf(UNNAMED);
  if (unnamed && noWayBack.mayHaveWritten(name))
    throw new RolloutRefusedError(
      `${name} may be one of the clients without a name that have written ${unnamed.count} times to the new service: CLIENTS_FILE did not have it then, or not as it is now. ${COST}`,
    );
}

/**
 * Turns a route, a client or everything back, on all replicas.
 *
 * @param acceptsLostWrites Turn clients back as well that have written to a service with data of its own.
 * @throws {RolloutRefusedError} {StateUnavailableError}
 */
export async function turnBack(
  { plan, returns, noWayBack, possibleWriters }: Rollout,
  directory: ClientDirectory,
  action: RolloutAction,
  acceptsLostWrites: boolean,
): Promise<TurnedBack> {
  const { kind, name } = action;
  const { data } = plan();
  if (kind === "route" && data.kind !== "shared")
    throw new RolloutRefusedError(
      `With data: ${data.kind} a client is on one side with all its routes: name a client, or all.`,
    );
  await noWayBack.refresh();
  const names = namesOf(directory, name);
  const isConcerned = (client: string): boolean => kind === "all" || names.includes(client);
  const writers = Object.entries(data.kind === "separate" ? noWayBack.writers() : {}).filter(([client]) =>
    isConcerned(client),
  );
  const writes = writers.reduce((sum, [, { count }]) => sum + count, 0);
  if (kind === "client" && data.kind === "separate" && !acceptsLostWrites)
    refuseLostWrites(name, writes, noWayBack);
  const lostWrites = acceptsLostWrites ? writes : 0;
  await returns.turnBack({ ...action, acceptsLostWrites, lostWrites });
  if (acceptsLostWrites && data.kind === "separate")
    await noWayBack.forgetWrites(kind === "client" ? name : undefined);
  return {
    lostWrites,
    staying: acceptsLostWrites ? [] : writers.map(([client]) => client),
    possiblyStaying: acceptsLostWrites ? [] : possibleWriters().filter(isConcerned),
    withTokens: kind === "route" ? [] : noWayBack.tokenClients().filter(isConcerned),
  };
}
