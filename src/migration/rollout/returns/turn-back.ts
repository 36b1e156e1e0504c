/** Returns something to the old service at the request of a person. */
import { type ClientDirectory, namesSoFar, UNNAMED } from "../../../audit/index.ts";
import { RefusedError } from "../../../base/index.ts";
import type { RolloutAction } from "./returns.ts";
import type { Rollout } from "../sides.ts";
import type { TripTarget } from "./trips.ts";

const refused = (message: string): RefusedError => new RefusedError("AG_ROLLOUT_REFUSED", message);

const ALL: TripTarget = { kind: "all", name: "all" };

/** Finds the target with a name in a command: `all`, a route of the pack, or a client. @throws {RefusedError} */
export function findTarget(name: string, routes: readonly string[], directory: ClientDirectory): TripTarget {
  if (name === ALL.name) return ALL;
  if (routes.includes(name)) return { kind: "route", name };
  const [, application] = /^application:(.+)$/.exec(name) ?? [];
  const owner = application === undefined ? undefined : directory.nameOf({ application });
  if (owner !== undefined)
    throw refused(`CLIENTS_FILE has the application ${application} as ${owner}: name ${owner}.`);
  // Some ids of applications are unknown.
  if (directory.find(name) || application !== undefined) return { kind: "client", name };
  throw refused(
    `There is no route and no client "${name}": name a route of the pack, a client of CLIENTS_FILE, or all.`,
  );
}

/** Returns the name of a client for people. */
export const nameForPeople = (client: string): string =>
  client === UNNAMED ? "clients without a name" : client;

/** A route, a client or everything to the old service, on all replicas. @throws {RefusedError} {StateUnavailableError} */
export async function turnBack(
  { config, returns, tokenClients }: Rollout,
  directory: ClientDirectory,
  action: RolloutAction,
) {
  const { kind, name } = action;
  const { data } = config();
  if (kind === "route" && data.kind !== "shared")
    throw refused(
      `With data: ${data.kind} a client is on one side with all its routes: name a client, or all.`,
    );
  await tokenClients.exchange();
  const names = namesSoFar(directory, name);
  await returns.turnBack(action);
  const isConcerned = (client: string): boolean => kind === "all" || names.includes(client);
  /** Clients whose requests with tokens of the gateway don't return. */
  const withTokens = kind === "route" ? [] : tokenClients.all().filter(isConcerned);
  return { withTokens };
}
