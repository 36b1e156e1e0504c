/** Turns something back because a person says so, and says what that costs. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { RolloutAction } from "./returns.ts";
import { type Rollout, UNNAMED } from "./rollout.ts";
import type { TripTarget } from "./trips.ts";

/** It can't be done like this. The message says why, and what to do. */
export class RolloutRefusedError extends Error {
  override readonly name = "RolloutRefusedError";
  readonly code = "AG_ROLLOUT_REFUSED";
}

const ALL: TripTarget = { kind: "all", name: "all" };

/** What a name in a command means: `all`, a route of the pack, or a client. @throws {RolloutRefusedError} */
export function findTarget(name: string, routes: readonly string[], directory: ClientDirectory): TripTarget {
  if (name === ALL.name) return ALL;
  if (routes.includes(name)) return { kind: "route", name };
  const [, application] = /^application:(.+)$/.exec(name) ?? [];
  const owner = application === undefined ? undefined : directory.nameOf({ application });
  if (owner !== undefined)
    throw new RolloutRefusedError(
      `CLIENTS_FILE has the application ${application} as ${owner}: name ${owner}.`,
    );
  // Of other applications nobody knows all ids.
  if (directory.find(name) || application !== undefined) return { kind: "client", name };
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
  /** Clients whose requests with tokens of the gateway stay. */
  readonly withTokens: readonly string[];
}

/** A client as people read it. */
export const clientText = (client: string): string =>
  client === UNNAMED ? "clients without a name" : client;

/**
 * Turns a route, a client or everything back, on all replicas.
 *
 * @param acceptsLostWrites Turn clients back as well that have written to a service with data of its own.
 * @throws {RolloutRefusedError} {StateUnavailableError}
 */
export async function turnBack(
  { plan, returns, noWayBack }: Rollout,
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
  const isConcerned = (client: string): boolean => kind === "all" || client === name;
  const writers = Object.entries(data.kind === "separate" ? noWayBack.writers() : {}).filter(([client]) =>
    isConcerned(client),
  );
  const writes = writers.reduce((sum, [, { count }]) => sum + count, 0);
  if (kind === "client" && writes > 0 && !acceptsLostWrites)
    throw new RolloutRefusedError(
      `${name} has written ${writes} times to the new service, and the old one does not have these writes. To lose them, accept lost writes.`,
    );
  const lostWrites = acceptsLostWrites ? writes : 0;
  await returns.turnBack({ ...action, acceptsLostWrites, lostWrites });
  if (lostWrites > 0) await noWayBack.forgetWrites(kind === "client" ? name : undefined);
  return {
    lostWrites,
    staying: acceptsLostWrites ? [] : writers.map(([client]) => client),
    withTokens: kind === "route" ? [] : noWayBack.tokenClients().filter(isConcerned),
  };
}
