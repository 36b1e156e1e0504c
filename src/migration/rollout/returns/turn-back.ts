/** Turns something back because a person says so. */
import { type ClientDirectory, namesOf, UNNAMED } from "../../../audit/index.ts";
import type { RolloutAction } from "./returns.ts";
import type { Rollout } from "../rollout.ts";
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
  /** Clients whose requests with tokens of the gateway stay. */
  readonly withTokens: readonly string[];
}

/** A client as people read it. */
export const rolloutClientText = (client: string): string =>
  client === UNNAMED ? "clients without a name" : client;

/** Turns a route, a client or everything back, on all replicas. @throws {RolloutRefusedError} {StateUnavailableError} */
export async function turnBack(
  { plan, returns, tokenClients }: Rollout,
  directory: ClientDirectory,
  action: RolloutAction,
): Promise<TurnedBack> {
  const { kind, name } = action;
  const { data } = plan();
  if (kind === "route" && data.kind !== "shared")
    throw new RolloutRefusedError(
      `With data: ${data.kind} a client is on one side with all its routes: name a client, or all.`,
    );
  await tokenClients.exchange();
  const names = namesOf(directory, name);
  await returns.turnBack(action);
  const isConcerned = (client: string): boolean => kind === "all" || names.includes(client);
  return { withTokens: kind === "route" ? [] : tokenClients.all().filter(isConcerned) };
}
