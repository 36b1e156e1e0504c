/** The clients that would notice changes, or that something is removed, as blocks: text for a terminal, and Markdown for a pull request. */
import { type Block, type Item, listOf, plural, renderMarkdown, renderTerminal } from "../../base/index.ts";
import type { ChangeImpact, Impact } from "./find-impact.ts";
import type { NoticingClient } from "./noticing-clients.ts";
import type { Notice, Notices } from "./who-would-notice.ts";

/** Clients that are listed of one change. JSON has all. */
const MOST_CLIENTS = 10;
/** Changes that are listed of one verdict. JSON has all. */
const MOST_CHANGES = 200;

/** The name of a client, as lines have it. */
const clientText = ({ name, family, client }: Pick<NoticingClient, "name" | "family" | "client">): string =>
  name ?? (family === "" ? "no user agent" : family) ?? client ?? "without a token";

/** For names in responses. */
const NOBODY_KNOWS = "nobody can know who reads it: a field brown-out of the plan shows it";

const subjectOf = ({ operation, place }: ChangeImpact): string =>
  place === null ? operation : `${operation}, ${place}`;

/** The known facts about the clients of a change, in addition to their calls. */
function notesOf(
  { concern, isExact, isByValue, clients, level, names }: ChangeImpact,
  kind: Impact["kind"],
): string[] {
  if (level === "safe" || clients.length === 0) return [];
  const through = kind === "openapi" && names.length > 0 ? [`clients have it as ${names.join(", ")}`] : [];
  if (concern === "readers") return [...through, `these clients get it; ${NOBODY_KNOWS}`];
  if (!isExact) return [...through, "senders are not counted: these are all callers"];
  if (concern === "omitters")
    return [
      ...through,
      "days are counted, not calls: a client that sends it every day may have calls without it",
    ];
  return isByValue ? [...through, "values are not counted: these are all senders"] : through;
}

/** The first clients, and how many more there are. */
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

/** A client with its calls, as a line. */
function clientLine(client: NoticingClient): string {
  const { calls, last, sends } = client;
  const sent = sends === undefined ? "" : `, sends it ${sends}`;
  return `${clientText(client)}: ${plural(calls, "call")}, the last on ${last}${sent}`;
}

/** The changes of the verdicts that are listed. Safe ones are counted only. */
function listedChanges({ changes }: Impact): ChangeImpact[] {
  return [...Map.groupBy(changes, ({ verdict }) => verdict)].flatMap(([verdict, of]) =>
    verdict === "safe" ? [] : of.slice(0, MOST_CHANGES),
  );
}

/** Says from which day on names are known, where calls of earlier days are. */
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

/** The changes with the clients that would notice each, and a summary. */
function outlineImpact(impact: Impact): Block[] {
  const items = listedChanges(impact).map((change): Item => ({
    line: `${change.verdict}: ${subjectOf(change)} ${change.what}`,
    items: [...notesOf(change, impact.kind), ...firstClients(change.clients, clientLine)],
  }));
  return [...listOf(items), ...listOf(summarize(impact))];
}

const clientsText = (clients: readonly NoticingClient[]): string => plural(clients.length, "client");

/** `1 client sends it`, `2 clients send it`. */
const clientsDo = (clients: readonly NoticingClient[], verb: string): string =>
  `${clientsText(clients)} ${verb}${clients.length === 1 ? "s" : ""} it`;

function describeSent({ route, name, concern, isExact, clients }: Notice): Item {
  const what =
    concern === "callers"
      ? clientsDo(clients, "call")
      : isExact
        ? clientsDo(clients, "send")
        : `${clientsText(clients)} may send it: that is not counted`;
  return { line: `${route}${name === null ? "" : `, ${name}`}: ${what}`, items: clients.map(clientLine) };
}

/** Names of an answer that are listed. */
const MOST_NAMES = 5;

function describeRead(route: string, notices: readonly Notice[]): string {
  const names = notices.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const clients = notices[0]?.clients ?? [];
  return `${route}, ${names.slice(0, MOST_NAMES).join(", ")}${more}: ${clientsDo(clients, "get")}; ${NOBODY_KNOWS}`;
}

/** Each thing that clients send or get with its clients, and a summary. */
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

/** The formats of an impact, by the names of `--format`. */
export const IMPACT_FORMATS = {
  text: (impact: Impact): string => renderTerminal(outlineImpact(impact)),
  markdown: (impact: Impact): string =>
    renderMarkdown([{ kind: "heading", level: 2, line: "Who would notice" }, ...outlineImpact(impact)]),
  json: (impact: Impact): string => `${JSON.stringify(impact, null, 2)}\n`,
} as const satisfies Readonly<Record<string, (impact: Impact) => string>>;

export type ImpactFormat = keyof typeof IMPACT_FORMATS;
