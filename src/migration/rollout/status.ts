/** The sides of clients as people read them: who is where and why, what has returned, and who can't. */
import { type RolloutData, TRIP } from "../../compare/index.ts";
import type { ClientDirectory } from "../../audit/index.ts";
import { scoreOf, type Evidence } from "./returns/evidence.ts";
import type { SideDecision } from "./decide.ts";
import type { Side } from "../../gateway/index.ts";
import type { RolloutRule } from "./rules.ts";
import type { Rollout } from "./sides.ts";
import type { RolloutEvent, Trip } from "./returns/trips.ts";

/** A rule of the file in words. */
export interface RuleStatus {
  readonly who: string;
  /** Null: all. */
  readonly routes: readonly string[] | null;
}

/** Where a client is. */
export interface ClientStatus extends SideDecision {
  readonly name: string;
  /** Routes on which it is on the other side. */
  readonly exceptions: readonly (SideDecision & { readonly route: string })[];
}

/** How close a route is to a return: it returns at 1. */
export interface ScoreStatus {
  readonly route: string;
  readonly differences: number;
  readonly failures: number;
}

/** The sides of clients, as the admin API returns them. */
export interface RolloutStatus {
  readonly data: RolloutData;
  /** Whether the state store was read: before, everybody gets the old service. */
  readonly isKnown: boolean;
  readonly rules: readonly RuleStatus[];
  /** The side of clients that nobody knows. */
  readonly others: Side;
  readonly clients: readonly ClientStatus[];
  readonly trips: readonly Trip[];
  /** Routes that should return, and stay since the old service is not well, as this process sees it. */
  readonly blocked: readonly string[];
  readonly scores: readonly ScoreStatus[];
  /** Clients with tokens that the gateway issued: the old service does not know these. */
  readonly noWayBack: readonly string[];
  readonly events: readonly RolloutEvent[];
}

function describeRule({ why, clients, routes }: RolloutRule): RuleStatus {
  return { who: clients ? [...clients.keys()].join(", ") : why, routes: routes ? [...routes] : null };
}

const ofTrip = (evidence: Evidence): number =>
  Math.round((scoreOf(evidence, Date.now() / 1000) / TRIP) * 100) / 100;

/** Describes the sides of clients. */
export function describeRollout(sides: Rollout, directory: ClientDirectory): RolloutStatus {
  const { data, rules } = sides.config();
  const { returns, tokenClients } = sides;
  const { scores, events } = returns.state();
  const routes = new Set([
    ...rules.flatMap((rule) => [...(rule.routes ?? [])]),
    ...returns.trips().flatMap(({ kind, name }) => (kind === "route" ? [name] : [])),
  ]);
  const describeClient = (name: string): ClientStatus => {
    const decision = sides.decide(name, null);
    const exceptions = [...routes]
      .map((route) => ({ route, ...sides.decide(name, route) }))
      .filter(({ side }) => side !== decision.side);
    return { name, ...decision, exceptions };
  };
  return {
    data,
    isKnown: returns.isKnown(),
    rules: rules.map(describeRule),
    others: sides.decide(undefined, null).side,
    clients: directory.clients.map(({ name }) => describeClient(name)),
    trips: returns.trips(),
    blocked: returns.blocked(),
    scores: Object.entries(scores)
      .map(([route, { differences, failures }]) => ({
        route,
        differences: ofTrip(differences),
        failures: ofTrip(failures),
      }))
      .filter(({ differences, failures }) => differences > 0 || failures > 0),
    noWayBack: tokenClients.all(),
    events,
  };
}
