/** The clients that would notice changes, as blocks: text for a terminal, and Markdown for a pull request. */
import { type Block, type Item, plural, renderMarkdown, renderTerminal } from "../../base/index.ts";
import type { ChangeImpact, Impact } from "./find-impact.ts";
import type { NoticingClient } from "./noticing-clients.ts";

/** Clients that are listed of one change. JSON has all. */
const MOST_CLIENTS = 10;
/** Changes that are listed of one verdict. JSON has all. */
const MOST_CHANGES = 200;

/** The name of a client, as lines have it. */
export const clientText = ({
  name,
  family,
  client,
}: Pick<NoticingClient, "name" | "family" | "client">): string =>
  name ?? (family === "" ? "no user agent" : family) ?? client ?? "without a token";

/** Of what is in answers. */
export const NOBODY_KNOWS = "nobody can know who reads it: a field brown-out of the plan shows it";

const subjectOf = ({ operation, place }: ChangeImpact): string =>
  place === null ? operation : `${operation}, ${place}`;

/** The known facts about the clients of a change, besides their calls. */
function notesOf(
  { concern, isExact, isByValue, clients, level, names }: ChangeImpact,
  kind: Impact["kind"],
): string[] {
  if (level === "safe" || clients.length === 0) return [];
  const through = kind === "openapi" && names.length > 0 ? [`clients have it as ${names.join(", ")}`] : [];
  if (concern === "readers") return [...through, `these clients get it; ${NOBODY_KNOWS}`];
  if (!isExact) return [...through, "who sends it is not counted: these are all who call"];
  if (concern === "omitters")
    return [...through, "days are counted, not calls: who sends it every day may have calls without it"];
  return isByValue ? [...through, "values are not counted: these are all who send it"] : through;
}

/** The first clients, and how many more there are. */
export function firstClients(
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
export function clientLine(client: NoticingClient): string {
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
export const sinceText = (day: string): string =>
  `Names are known since ${day}, and calls for longer: who sent a name only before is not listed.`;

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
  return [
    ...(items.length > 0 ? [{ kind: "list" as const, items }] : []),
    { kind: "list", items: summarize(impact) },
  ];
}

/** The formats of an impact, by the names of `--format`. */
export const IMPACT_FORMATS = {
  text: (impact: Impact): string => renderTerminal(outlineImpact(impact)),
  markdown: (impact: Impact): string =>
    renderMarkdown([{ kind: "heading", level: 2, line: "Who would notice" }, ...outlineImpact(impact)]),
  json: (impact: Impact): string => `${JSON.stringify(impact, null, 2)}\n`,
} as const satisfies Readonly<Record<string, (impact: Impact) => string>>;

export type ImpactFormat = keyof typeof IMPACT_FORMATS;
