/** The status of a roll-out: the side of each client with the reason, returns, and blocked returns. */
import { type ClientDirectory, UNNAMED } from "../../audit/index.ts";
import {
  type ActionForm,
  type Block,
  foldedList,
  formatSecondUtc,
  percent,
  type Item,
  type Line,
  namedLists,
  plural,
  type Span,
} from "../../base/index.ts";
import type { Side } from "../../gateway/index.ts";
import { TRIP } from "./returns/cusum.ts";
import { scoreOf, type Evidence } from "./returns/evidence.ts";
import type { Rollout } from "./sides.ts";

/** The sides of clients in the form for the admin API. */
export type RolloutStatus = ReturnType<typeof describeRollout>;

const ofTrip = (evidence: Evidence): number =>
  Math.round((scoreOf(evidence, Date.now() / 1000) / TRIP) * 100) / 100;

/** Describes the sides of clients. */
export function describeRollout(sides: Rollout, directory: ClientDirectory) {
  const { data, rules } = sides.config();
  const { scores, events } = sides.state();
  const trips = sides.trips();
  const namedRoutes = new Set([
    ...rules.flatMap((rule) => [...(rule.routes ?? [])]),
    ...trips.flatMap(({ kind, name }) => (kind === "route" ? [name] : [])),
  ]);
  return {
    data,
    /** Whether the state store was read. Before that, all clients get the old service. */
    isKnown: sides.isKnown(),
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
    trips,
    /** Routes that should return, but don't because the old service is not healthy according to this process. */
    blocked: sides.blocked(),
    /** The scores of routes, relative to the score at which a route returns: 1. */
    scores: Object.entries(scores)
      .map(([route, { differences, failures }]) => ({
        route,
        differences: ofTrip(differences),
        failures: ofTrip(failures),
      }))
      .filter(({ differences, failures }) => differences > 0 || failures > 0),
    /** Clients with tokens that the gateway issued: the old service does not accept them. */
    noWayBack: sides.tokenClients.all(),
    events,
  };
}

/** Maximum number of requests in a line. */
const MAX_SHOWN = 4;

const DATA: Readonly<Record<RolloutStatus["data"]["kind"], string>> = {
  shared: "one store for both services",
  replicated: "copies of one store",
};

/** Returns the name of a client for people. */
export const nameForPeople = (client: string): string =>
  client === UNNAMED ? "clients without a name" : client;

const sideTag = (side: Side): Span => ({ tag: side, tone: side === "new" ? "warn" : "plain" });

const clientItem = ({ name, side, why, exceptions }: RolloutStatus["clients"][number]): Item => ({
  line: [sideTag(side), "  ", { strong: name }, `: ${why}`],
  items: exceptions.map((each) => ["   ", sideTag(each.side), ` on ${each.route}: ${each.why}`]),
});

function tripLine({ name, by, at, reason, records }: RolloutStatus["trips"][number]): Line {
  const why = reason === null ? "" : `: ${reason}`;
  const requests = records.length > 0 ? `; requests ${records.slice(-MAX_SHOWN).join(", ")}` : "";
  return ["returned: ", { strong: name }, ` at ${formatSecondUtc(at)} by ${by}${why}${requests}`];
}

const eventLine = ({ action, name, by, at }: RolloutStatus["events"][number]): string =>
  `${action === "resume" ? "resumed" : "returned"}: ${name} at ${formatSecondUtc(at)} by ${by}`;

/** Describes the clients that get the translation. */
export function describeSides(status: RolloutStatus): Block[] {
  const { data, isKnown, others, clients, trips, blocked, scores, noWayBack, events } = status;
  const lag = data.kind === "replicated" ? `, lag ${data.lagMs} ms` : "";
  const turned = clients.filter(({ side }) => side === "new").length;
  const lines = [
    ...(isKnown ? [] : ["The state store could not be read yet: all clients get the old service."]),
    ...(blocked.length > 0
      ? [`${blocked.join(", ")} should return, and stays: the old service is not well.`]
      : []),
    `${turned} of ${clients.length} clients get the translation; data: ${data.kind} (${DATA[data.kind]}${lag})`,
  ];
  const lists: [name: string, items: readonly Item[]][] = [
    [
      "Clients",
      [...clients.map(clientItem), [sideTag(others), "  requests of clients outside of the directory"]],
    ],
    ["Returned", trips.map(tripLine)],
    [
      "On the way back",
      scores.map(
        ({ route, differences, failures }) =>
          `on the way back: ${route} (differences ${percent(differences, 1)}, failures ${percent(failures, 1)})`,
      ),
    ],
    [
      "No way back",
      noWayBack.map(
        (client) =>
          `no way back: ${nameForPeople(client)}; it has tokens of the gateway, which the old service does not know`,
      ),
    ],
  ];
  const blocks = [...lines.map((line): Block => ({ kind: "text", line })), ...namedLists(lists)];
  return [
    { kind: "section", as: "group", blocks },
    ...foldedList(`${plural(events.length, "change")} so far`, events.map(eventLine)),
  ];
}

/**
 * Creates the form that returns something to the old service: everything, clients with the translation, or routes that
 * the status names.
 */
export function turnBackForm({ data, rules, clients, scores, trips }: RolloutStatus): ActionForm {
  const routes =
    data.kind === "shared"
      ? [...rules.flatMap((rule) => rule.routes ?? []), ...scores.map(({ route }) => route)]
      : [];
  const names = clients.filter(({ side }) => side === "new").map(({ name }) => name);
  const returned = new Set(trips.map(({ name }) => name));
  const targets = [...new Set(["all", ...names, ...routes])].filter((name) => !returned.has(name));
  return {
    label: "Turn back",
    longestReason: 200,
    choice: {
      label: "What",
      name: "target",
      options: targets.map((name) => [name, name === "all" ? "everything" : name]),
    },
    button: { text: "Turn back now", action: "turn-back", done: "Turned back" },
  };
}
