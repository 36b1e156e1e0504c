/** The clients that would notice changes or removals, as blocks: text for a terminal, and Markdown for a pull request. */
import {
  type Block,
  type Item,
  listOf,
  plural,
  renderMarkdown,
  renderTerminal,
  verbFor,
} from "../../base/index.ts";
import type { ChangeImpact, Impact } from "./find-impact.ts";
import type { NoticingClient } from "./noticing-clients.ts";
import type { Notice, Notices } from "./who-would-notice.ts";

/** Maximum number of clients that are listed for one change. JSON contains all of them. */
const MOST_CLIENTS = 10;
/** Maximum number of changes that are listed for one verdict. JSON contains all of them. */
const MOST_CHANGES = 200;

/** Returns the name of a client for lines. */
const clientText = ({ name, family, client }: Pick<NoticingClient, "name" | "family" | "client">): string =>
  name ?? (family === "" ? "no user agent" : family) ?? client ?? "without a token";

/** The note for names in responses. */
const NOBODY_KNOWS = "only a field brown-out of the plan shows which of them read it";

const subjectOf = ({ operation, place }: ChangeImpact): string =>
  place === null ? operation : `${operation}, ${place}`;

/** Returns the known facts about the clients of a change, in addition to their calls. */
function notesOf(
  { concern, isExact, isByValue, clients, level, names }: ChangeImpact,
  kind: Impact["kind"],
): string[] {
  if (level === "safe" || clients.length === 0) return [];
  const through = kind === "openapi" && names.length > 0 ? [`clients have it as ${names.join(", ")}`] : [];
  if (concern === "readers") return [...through, `these clients get it; ${NOBODY_KNOWS}`];
  if (!isExact) return [...through, "senders are not recorded, so this lists every caller"];
  if (concern === "omitters")
    return [
      ...through,
      "days are counted, not calls: a client that sends it every day may have calls without it",
    ];
  return isByValue ? [...through, "values are not recorded, so this lists every sender"] : through;
}

/** Returns the first clients, and the number of further ones. */
function firstClients(
  clients: readonly NoticingClient[],
  textOf: (client: NoticingClient) => string,
): string[] {
  const more = clients.length - MOST_CLIENTS;
  return [
    ...clients.slice(0, MOST_CLIENTS).map(textOf),
    ...(more > 0 ? [`and ${plural(more, "more client")}`] : []),
  ];
}

/** Returns a line with a client and its calls. */
function clientLine(client: NoticingClient): string {
  const { calls, last, sends } = client;
  const sent = sends === undefined ? "" : `, sends it ${sends}`;
  return `${clientText(client)}: ${plural(calls, "call")}, the last on ${last}${sent}`;
}

/** Returns the changes with the listed verdicts. Safe changes are only counted. */
function listedChanges({ changes }: Impact): ChangeImpact[] {
  return [...Map.groupBy(changes, ({ verdict }) => verdict)].flatMap(([verdict, of]) =>
    verdict === "safe" ? [] : of.slice(0, MOST_CHANGES),
  );
}

/** Returns the day from which names are known, as a text for the case that there are earlier calls. */
const sinceText = (day: string): string =>
  `Names are known since ${day}, and calls for longer. Clients that sent a name only before are not listed.`;

const summarize = ({ counts, clients, changes, unknownCalls, namesSince }: Impact): string[] => [
  `${plural(changes.length, "change")}: ${Object.entries(counts)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(", ")}`,
  clients.length === 0
    ? "No client is touched by a breaking change."
    : `${plural(clients.length, "client")} touched by a breaking change: ${firstClients(clients, clientText).join(", ")}`,
  ...(namesSince === null ? [] : [sinceText(namesSince)]),
  ...(unknownCalls > 0
    ? [
        `${plural(unknownCalls, "call")} of the pack are not in the old document: changes of these are not found.`,
      ]
    : []),
];

/** Returns the changes with the clients that would notice each, and a summary. */
function outlineImpact(impact: Impact): Block[] {
  const items = listedChanges(impact).map((change): Item => ({
    line: `${change.verdict}: ${subjectOf(change)} ${change.what}`,
    items: [...notesOf(change, impact.kind), ...firstClients(change.clients, clientLine)],
  }));
  return [...listOf(items), ...listOf(summarize(impact))];
}

const clientsText = (clients: readonly NoticingClient[]): string => plural(clients.length, "client");

/** Formats `1 client sends it`, `2 clients send it`. */
const clientsDo = (clients: readonly NoticingClient[], verb: string): string =>
  `${clientsText(clients)} ${verbFor(clients.length, verb)} it`;

function describeSent({ route, name, concern, isExact, clients }: Notice): Item {
  const what =
    concern === "callers"
      ? clientsDo(clients, "call")
      : isExact
        ? clientsDo(clients, "send")
        : `${clientsText(clients)} may send it: that is not counted`;
  return { line: `${route}${name === null ? "" : `, ${name}`}: ${what}`, items: clients.map(clientLine) };
}

/** Maximum number of names of a response that are listed. */
const MOST_NAMES = 5;

function describeRead(route: string, notices: readonly Notice[]): string {
  const names = notices.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const clients = notices[0]?.clients ?? [];
  return `${route}, ${names.slice(0, MOST_NAMES).join(", ")}${more}: ${clientsDo(clients, "get")}; ${NOBODY_KNOWS}`;
}

/** Returns each subject that clients send or receive with its clients, and a summary. */
export function outlineNotices({ notices, clients, readers, namesSince }: Notices): Block[] {
  const used = notices.filter((notice) => notice.clients.length > 0);
  const read = Map.groupBy(
    used.filter(({ concern }) => concern === "readers"),
    ({ route }) => route,
  );
  const items: Item[] = [
    ...used.filter(({ concern }) => concern !== "readers").map(describeSent),
    ...[...read].map(([route, of]) => describeRead(route, of)),
  ];
  const list = (of: readonly NoticingClient[]): string => firstClients(of, clientText).join(", ");
  const summary =
    clients.length > 0
      ? `${clientsText(clients)} would notice: ${list(clients)}`
      : readers.length > 0
        ? `No client sends it. ${clientsDo(readers, "get")}: ${list(readers)}`
        : "No client would notice.";
  const isName = notices.some(({ concern }) => concern === "senders");
  const since = namesSince !== null && isName ? [sinceText(namesSince)] : [];
  return [...listOf(items), ...listOf([summary, ...since])];
}

/** The formats of an impact, by their values of `--format`. */
export const IMPACT_FORMATS = {
  text: (impact: Impact): string => renderTerminal(outlineImpact(impact)),
  markdown: (impact: Impact): string =>
    renderMarkdown([{ kind: "heading", level: 2, line: "Who would notice" }, ...outlineImpact(impact)]),
  json: (impact: Impact): string => `${JSON.stringify(impact, null, 2)}\n`,
} as const satisfies Readonly<Record<string, (impact: Impact) => string>>;

export type ImpactFormat = keyof typeof IMPACT_FORMATS;
