/** The target of an action on a roll-out. */
import type { ClientDirectory } from "../../../audit/index.ts";
import { RefusedError } from "../../../base/index.ts";
import type { TripTarget } from "./trips.ts";

/** Creates the error for an action that is not possible. */
export const refused = (message: string): RefusedError => new RefusedError("AG_ROLLOUT_REFUSED", message);

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
