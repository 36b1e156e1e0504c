/** Describes the roll-out for people: the side of each client with the reason, returns, and blocked returns. */
import {
  type ActionForm,
  type Block,
  foldedList,
  formatSecondUtc,
  type Item,
  type Line,
  namedLists,
  plural,
  type Span,
} from "../../base/index.ts";
import type { Side } from "../../gateway/index.ts";
import type { ClientStatus, RolloutStatus } from "./status.ts";
import { nameForPeople } from "./returns/turn-back.ts";

/** Maximum number of requests in a line. */
const MAX_SHOWN = 4;

const DATA: Readonly<Record<RolloutStatus["data"]["kind"], string>> = {
  shared: "one store for both services",
  replicated: "copies of one store",
};

const sideTag = (side: Side): Span => ({ tag: side, tone: side === "new" ? "warn" : "plain" });

const clientItem = ({ name, side, why, exceptions }: ClientStatus): Item => ({
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

const percentOf = (score: number): string => `${Math.round(score * 100)}%`;

/** Describes the clients that get the translation. */
export function describeSides(status: RolloutStatus): Block[] {
  const { data, isKnown, others, clients, trips, blocked, scores, noWayBack, events } = status;
  const lag = data.kind === "replicated" ? `, lag ${data.lagMs} ms` : "";
  const turned = clients.filter(({ side }) => side === "new").length;
  const text = (line: string): Block => ({ kind: "text", line });
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
          `on the way back: ${route} (differences ${percentOf(differences)}, failures ${percentOf(failures)})`,
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
  const problems = [
    ...(isKnown ? [] : ["The state store could not be read yet: all clients get the old service."]),
    ...(blocked.length > 0
      ? [`${blocked.join(", ")} should return, and stays: the old service is not well.`]
      : []),
  ];
  const blocks = [
    ...problems.map(text),
    text(
      `${turned} of ${clients.length} clients get the translation; data: ${data.kind} (${DATA[data.kind]}${lag})`,
    ),
    ...namedLists(lists),
  ];
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
