/** The status of a roll-out for people: the side of each client with the reason, returns, and blocked returns. */
import { TRIP } from "../../compare/index.ts";
import type { ClientDirectory } from "../../audit/index.ts";
import { scoreOf, type Evidence } from "./returns/evidence.ts";
import type { Rollout } from "./sides.ts";

/** The sides of clients, as the admin API returns them. */
export type RolloutStatus = ReturnType<typeof describeRollout>;
export type ClientStatus = RolloutStatus["clients"][number];

const ofTrip = (evidence: Evidence): number =>
  Math.round((scoreOf(evidence, Date.now() / 1000) / TRIP) * 100) / 100;

/** Describes the sides of clients. */
export function describeRollout(sides: Rollout, directory: ClientDirectory) {
  const { data, rules } = sides.config();
  const { returns, tokenClients } = sides;
  const { scores, events } = returns.state();
  const namedRoutes = new Set([
    ...rules.flatMap((rule) => [...(rule.routes ?? [])]),
    ...returns.trips().flatMap(({ kind, name }) => (kind === "route" ? [name] : [])),
  ]);
  return {
    data,
    /** Whether the state store was read: before, everybody gets the old service. */
    isKnown: returns.isKnown(),
    /** The rules of the file in words. */
    rules: rules.map(({ why, clients, routes }) => ({
      who: clients ? [...clients.keys()].join(", ") : why,
      /** Null: all. */
      routes: routes ? [...routes] : null,
    })),
    /** The side of clients that nobody knows. */
    others: sides.decide(undefined, null).side,
    clients: directory.clients.map(({ name }) => {
      const decision = sides.decide(name, null);
      /** Routes on which it is on the other side. */
      const exceptions = [...namedRoutes]
        .map((route) => ({ route, ...sides.decide(name, route) }))
        .filter(({ side }) => side !== decision.side);
      return { name, ...decision, exceptions };
    }),
    trips: returns.trips(),
    /** Routes that should return, and stay since the old service is not well, as this process sees it. */
    blocked: returns.blocked(),
    /** How close routes are to a return: each returns at 1. */
    scores: Object.entries(scores)
      .map(([route, { differences, failures }]) => ({
        route,
        differences: ofTrip(differences),
        failures: ofTrip(failures),
      }))
      .filter(({ differences, failures }) => differences > 0 || failures > 0),
    /** Clients with tokens that the gateway issued: the old service does not know these. */
    noWayBack: tokenClients.all(),
    events,
  };
}
