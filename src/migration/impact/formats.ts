/** Writes an impact as text for a terminal, as Markdown for a pull request, and as JSON. */
import { plural, toVisibleLine } from "../../base/index.ts";
import type { ChangeImpact, Impact } from "./find-impact.ts";
import type { NoticingClient } from "./noticing-clients.ts";

/** Clients that are listed of one change. JSON has all. */
const MOST_CLIENTS = 10;
/** Changes that are listed of one verdict. JSON has all. */
const MOST_CHANGES = 200;

export const clientText = ({
  name,
  family,
  client,
}: Pick<NoticingClient, "name" | "family" | "client">): string =>
  name ?? (family === "" ? "no user agent" : family) ?? client ?? "without a token";

const subjectOf = ({ operation, place }: ChangeImpact): string =>
  place === null ? operation : `${operation}, ${place}`;

/** What is known about the clients of a change, besides their calls. */
function notesOf(
  { concern, isExact, isByValue, clients, level, names }: ChangeImpact,
  kind: Impact["kind"],
): string[] {
  if (level === "safe" || clients.length === 0) return [];
  const through = kind === "openapi" && names.length > 0 ? [`clients have it as ${names.join(", ")}`] : [];
  if (concern === "readers")
    return [
      ...through,
      "these clients get it; nobody can know who reads it: a field brown-out of the plan shows it",
    ];
  if (!isExact) return [...through, "who sends it is not counted: these are all who call"];
  if (concern === "omitters")
    return [...through, "days are counted, not calls: who sends it every day may have calls without it"];
  return isByValue ? [...through, "values are not counted: these are all who send it"] : through;
}

const sendsText = ({ sends }: NoticingClient): string =>
  sends === undefined ? "" : `, sends it ${sends === "never" ? "never" : sends}`;

/** The first clients as lines, and how many more there are. */
export function clientLines(
  clients: readonly NoticingClient[],
  line: (client: NoticingClient) => string,
): string[] {
  const more = clients.length - MOST_CLIENTS;
  return [
    ...clients.slice(0, MOST_CLIENTS).map(line),
    ...(more > 0 ? [`and ${plural(more, "more client")}`] : []),
  ];
}

export const callsText = ({ calls, last, sends }: NoticingClient): string =>
  `${plural(calls, "call")}, the last on ${last}${sends === undefined ? "" : sendsText({ sends } as NoticingClient)}`;

/** The changes of the verdicts that are listed. Safe ones are counted only. */
function listedChanges({ changes }: Impact): ChangeImpact[] {
  return [...Map.groupBy(changes, ({ verdict }) => verdict)].flatMap(([verdict, of]) =>
    verdict === "safe" ? [] : of.slice(0, MOST_CHANGES),
  );
}

/** Says from which day on names are known, where calls of earlier days are. */
export const sinceText = (day: string): string =>
  `Names are known since ${day}, and calls for longer: who sent a name only before is not listed.`;

const summaryOf = ({ counts, clients, changes, unknownCalls, namesSince }: Impact): string[] => [
  `${plural(changes.length, "change")}: ${Object.entries(counts)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(", ")}`,
  clients.length === 0
    ? "No client is touched by a breaking change."
    : `${plural(clients.length, "client")} touched by a breaking change: ${clientLines(clients, clientText).join(", ")}`,
  ...(namesSince === null ? [] : [sinceText(namesSince)]),
  ...(unknownCalls > 0
    ? [
        `${plural(unknownCalls, "call")} of the pack are not in the old document: changes of these are not found.`,
      ]
    : []),
];

function writeText(impact: Impact): string {
  const lines = listedChanges(impact).flatMap((change) => [
    `${change.verdict}: ${subjectOf(change)} ${change.what}`,
    ...notesOf(change, impact.kind).map((note) => `  ${note}`),
    ...clientLines(change.clients, (client) => `${clientText(client)}: ${callsText(client)}`).map(
      (line) => `    ${line}`,
    ),
  ]);
  return [...lines, ...(lines.length > 0 ? [""] : []), ...summaryOf(impact)]
    .map((line) => `${toVisibleLine(line)}\n`)
    .join("");
}

/** Texts of documents and of clients, which must not become markup. */
const escapeMarkdown = (text: string): string =>
  toVisibleLine(text).replaceAll(
    /[\\`*_{}[\]<>()#+!|~&@:]/g,
    (character) => `&#${character.codePointAt(0)};`,
  );

const HEADINGS: Readonly<Record<ChangeImpact["verdict"], string>> = {
  "breaking and used": "Breaking, and used",
  "breaking and unused": "Breaking, and unused",
  advice: "Advice",
  safe: "Safe",
};

function writeMarkdown(impact: Impact): string {
  const sections = [...Map.groupBy(listedChanges(impact), ({ verdict }) => verdict)].flatMap(
    ([verdict, changes]) => [
      `### ${HEADINGS[verdict]}`,
      "",
      "| Change | Clients |",
      "|---|---|",
      ...changes.map((change) => {
        const { clients, what } = change;
        const notes = notesOf(change, impact.kind).map((note) => `<br><i>${escapeMarkdown(note)}</i>`);
        const touched = clientLines(clients, (client) => `${clientText(client)}: ${callsText(client)}`);
        return `| ${escapeMarkdown(`${subjectOf(change)} ${what}`)}${notes.join("")} | ${touched.map(escapeMarkdown).join("<br>") || "none"} |`;
      }),
      "",
    ],
  );
  return [
    "## Who would notice",
    "",
    ...summaryOf(impact).map((line) => `- ${escapeMarkdown(line)}`),
    "",
    ...sections,
  ].join("\n");
}

/** The formats of an impact, by the names of `--format`. */
export const IMPACT_FORMATS = {
  text: writeText,
  markdown: writeMarkdown,
  json: (impact: Impact): string => `${JSON.stringify(impact, null, 2)}\n`,
} as const satisfies Readonly<Record<string, (impact: Impact) => string>>;

export type ImpactFormat = keyof typeof IMPACT_FORMATS;
