/** The status of a roll-out for people: the side of each client with the reason, returns, and blocked returns. */
import { TRIP } from "./returns/cusum.ts";
import type { ClientDirectory } from "../../audit/index.ts";
import { scoreOf, type Evidence } from "./returns/evidence.ts";
import type { Rollout } from "./sides.ts";

/** The sides of clients in the form for the admin API. */
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
    /** Whether the state store was read. Before that, all clients get the old service. */
    isKnown: returns.isKnown(),
    /** The rules of the file in words. */
    rules: rules.map(({ why, clients, routes }) => ({
      who: clients ? [...clients.keys()].join(", ") : why,
      /** The routes of the rule; null for all routes. */
      routes: routes ? [...routes] : null,
    })),
    /** The side of unknown clients. */
    others: sides.decide(undefined, null).side,
    clients: directory.clients.map(({ name }) => {
      const decision = sides.decide(name, null);
      /** Routes on which the client is on the other side. */
      const exceptions = [...namedRoutes]
        .map((route) => ({ route, ...sides.decide(name, route) }))
        .filter(({ side }) => side !== decision.side);
      return { name, ...decision, exceptions };
    }),
    trips: returns.trips(),
    /** Routes that should return, but don't because the old service is not healthy according to this process. */
    blocked: returns.blocked(),
    /** The scores of routes, relative to the score at which a route returns: 1. */
    scores: Object.entries(scores)
      .map(([route, { differences, failures }]) => ({
        route,
        differences: ofTrip(differences),
        failures: ofTrip(failures),
      }))
      .filter(({ differences, failures }) => differences > 0 || failures > 0),
    /** Clients with tokens that the gateway issued: the old service does not accept them. */
    noWayBack: tokenClients.all(),
    events,
  };
}
