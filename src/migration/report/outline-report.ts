import { UNACCEPTED } from "../../audit/index.ts";
import { formatCount, formatDay, formatMinuteUtc, percent, plural } from "../../base/index.ts";
import type { SideNames } from "../../pack/index.ts";
import {
  capitalize,
  describeReadiness,
  isClient,
  isDone,
  isUse,
  type CallGuide,
  type ClientGuide,
  type Report,
} from "./model.ts";
import { clientAnchor, outlineClient, READINESS_LABELS } from "./outline-client.ts";
import { CHANGE_LABELS } from "./outline-fields.ts";
import { outlineLosses } from "./outline-losses.ts";
import { openTokens } from "./outline-tokens.ts";
import { clientName, type Block, type Line, type OpenedRows } from "./outline.ts";

function describeSpan({ since, until, days }: Report): string {
  const first = since === null ? days[0]?.day : formatDay(since);
  const last = until === null ? days.at(-1)?.day : formatDay(Date.parse(until) - 1);
  if (first === undefined || last === undefined) return "no records";
  return first === last ? `the records of ${first}` : `the records from ${first} to ${last}`;
}

function outlineHead(report: Report): Block[] {
  const { totals } = report;
  const { client, upstream } = report.names;
  const alpha = totals.requests - totals.native;
  return [
    { kind: "heading", level: 1, line: [`Migration report: from ${client} to ${upstream}`] },
    {
      kind: "text",
      line: [
        `A gateway translates requests of an old API, called ${client} here, to the current API, ${upstream}. This ` +
          `report lists the clients that still use ${client}. For each client it shows, from its own requests, what ` +
          `to change so that it can call ${upstream} directly. It covers ${describeSpan(report)} (days in UTC). It was created on ` +
          `${formatMinuteUtc(report.made)}.`,
      ],
    },
    {
      kind: "figures",
      figures: [
        { value: formatCount(alpha), text: `requests in ${client}, of ${formatCount(totals.requests)}` },
        { value: percent(totals.native, totals.requests), text: `of all requests were native (${upstream})` },
        { value: `${totals.done} of ${totals.clients}`, text: `clients have moved to ${upstream}` },
        { value: formatCount(totals.silent), text: "clients are silent: whether they have moved is unknown" },
        { value: formatCount(totals.calls), text: `different ${client} routes in use` },
        { value: formatCount(totals.lossy), text: "responses that lost something" },
      ],
    },
    ...(report.cut
      ? [
          {
            kind: "text" as const,
            line: ["The report is too large: the least used calls are left out."],
          },
        ]
      : []),
  ];
}

/** The calls that a client must still change. */
function describeRemaining({ client, readiness, calls }: ClientGuide): string {
  if (client === UNACCEPTED) return "–";
  if (isDone(readiness)) return "nothing";
  const none = calls.filter(({ counterpart }) => counterpart === "none").length;
  const rest = none === 0 ? "" : `, ${none} without a counterpart`;
  return `${plural(calls.length, "call")}${rest}`;
}

const createClientRow = (client: ClientGuide): Line[] => [
  [
    { link: clientName(client), to: clientAnchor(client) },
    ...(client.client === null || client.name !== null ? [] : [" ", { code: client.id }]),
  ],
  [
    client.readiness === null ? "–" : { tag: READINESS_LABELS[client.readiness] },
    client.cameBack === null ? "" : ` came back on ${client.cameBack}`,
  ],
  [client.lastAlpha === null ? "never" : formatMinuteUtc(client.lastAlpha)],
  [formatCount(client.requests - client.native)],
  [percent(client.native, client.requests)],
  [describeRemaining(client)],
  [formatMinuteUtc(client.last)],
];

function outlineClients({ clients, names, quietDays }: Report): Block[] {
  return [
    { kind: "heading", level: 2, line: ["Clients"] },
    {
      kind: "table",
      caption: "Clients, those with the most calls to change first",
      columns: [
        { name: "Client" },
        { name: "State" },
        { name: `Last ${names.client} call` },
        { name: `In ${names.client}`, number: true },
        { name: "Native", number: true },
        { name: "To change" },
        { name: "Last seen" },
      ],
      rows: clients.map(createClientRow),
      opened: clients.map(openTokens),
    },
    {
      kind: "text",
      line: [
        "A client is a name, an application, or else all tokens of one user agent. Its state is that of today, whatever days the report covers. Of tokens only fingerprints are stored: the first digits of their SHA-256. ",
        ...Object.entries(describeReadiness(names, quietDays)).flatMap(([name, words], index) => [
          index === 0 ? "" : "; ",
          { tag: READINESS_LABELS[name as keyof typeof READINESS_LABELS] },
          ` ${words}`,
        ]),
        ".",
      ],
    },
  ];
}

/** Clients of a route that are listed. */
const MAX_CALLERS = 100;

/** A call of a client. */
interface Use {
  readonly client: ClientGuide;
  readonly call: CallGuide;
}

const lastOf = (uses: readonly Use[]): string =>
  uses.reduce((latest, { call }) => (call.last > latest ? call.last : latest), "");

/** Who calls a route, those with the most requests first. */
function openCallers(uses: readonly Use[]): OpenedRows {
  const left = uses.length - MAX_CALLERS;
  const rows = uses
    .toSorted((one, other) => other.call.requests - one.call.requests)
    .slice(0, MAX_CALLERS)
    .map(({ client, call }): Line[] => [
      [{ link: clientName(client), to: clientAnchor(client) }],
      [client.readiness === null ? "–" : { tag: READINESS_LABELS[client.readiness] }],
      [formatCount(call.requests)],
      [],
      [formatCount(call.lossy)],
      [formatMinuteUtc(call.last)],
    ]);
  return {
    title: plural(uses.length, "caller"),
    of: "Caller",
    rows: left > 0 ? [...rows, [[`${formatCount(left)} more`], [], [], [], [], []]] : rows,
  };
}

/** The routes in use, for all clients together. */
function outlineRoutes({ clients, names }: Report): Block[] {
  const calls = clients
    .flatMap((client) => client.calls.map((call) => ({ client, call })))
    .filter(({ client, call }) => isUse(client, call));
  const rows = [...Map.groupBy(calls, ({ call }) => call.route)]
    .map(([route, uses]) => ({
      route,
      v4: uses[0]?.call.v4[0] ?? "",
      counterpart: uses[0]?.call.counterpart ?? "unknown",
      requests: uses.reduce((sum, { call }) => sum + call.requests, 0),
      lossy: uses.reduce((sum, { call }) => sum + call.lossy, 0),
      clients: uses.filter(({ client }) => isClient(client)).length,
      last: lastOf(uses),
      opened: openCallers(uses),
    }))
    .toSorted((one, other) => other.requests - one.requests);
  if (rows.length === 0) return [];
  return [
    { kind: "heading", level: 2, line: [`${capitalize(names.client)} routes in use`] },
    {
      kind: "table",
      caption: "Requests of all clients",
      columns: [
        { name: `${capitalize(names.client)} route` },
        { name: `${names.upstream} call` },
        { name: "Requests", number: true },
        { name: "Clients", number: true },
        { name: "With losses", number: true },
        { name: "Last" },
      ],
      opened: rows.map(({ opened }) => opened),
      rows: rows.map(({ route, v4, counterpart, requests, clients: users, lossy, last }) => [
        [{ code: route }],
        v4 === "" ? [{ tag: counterpart === "unneeded" ? "not needed" : "no counterpart" }] : [{ code: v4 }],
        [formatCount(requests)],
        [formatCount(users)],
        [formatCount(lossy)],
        [formatMinuteUtc(last)],
      ]),
    },
  ];
}

/** The meanings of the labels. */
const describeLabels = ({ client, upstream }: SideNames): Readonly<Record<string, string>> => ({
  [CHANGE_LABELS.renamed]: "the same value under another name",
  [CHANGE_LABELS.value]: "the same value with another word or format",
  [CHANGE_LABELS.expanded]: `${client} returned a whole object, ${upstream} returns its id`,
  [CHANGE_LABELS.composed]: `${upstream} returns it in another call`,
  [CHANGE_LABELS.derived]: `${client} computed it from other fields`,
  [CHANGE_LABELS.missing]: `${upstream} does not have it`,
  [CHANGE_LABELS.same]: `${client} always had a value; ${upstream} can have none`,
  [CHANGE_LABELS.lossy]: `${client} could not represent all that ${upstream} returns`,
});

function outlineCommonChanges({ everyCall: differences, names }: Report): Block[] {
  const { client, upstream } = names;
  return [
    { kind: "heading", level: 2, line: ["What changes in all calls"], id: "every-call" },
    {
      kind: "table",
      caption: `In ${client} and in ${upstream}`,
      columns: [{ name: "" }, { name: `In ${client}` }, { name: `In ${upstream}` }],
      rows: differences.map(({ what, alpha, v4 }) => [[what], [alpha], [v4]]),
    },
    { kind: "heading", level: 3, line: ["Labels of fields"] },
    {
      kind: "list",
      lines: Object.entries(describeLabels(names)).map(([kind, meaning]) => [{ tag: kind }, ` ${meaning}`]),
    },
    {
      kind: "text",
      line: [
        `A formula shows how ${client}'s value is computed. It is JSONata on the object that ${upstream} returned, and `,
        { code: "$value" },
        " is the field in the same row.",
      ],
    },
  ];
}

/** The report as blocks. */
export function outlineReport(report: Report): readonly Block[] {
  const { days, clients } = report;
  if (clients.length === 0)
    return [
      ...outlineHead(report),
      { kind: "text", line: ["There are no requests yet, or their records are deleted."] },
    ];
  return [
    ...outlineHead(report),
    { kind: "heading", level: 2, line: ["Requests by day"] },
    { kind: "days", days, names: report.names },
    ...outlineClients(report),
    ...outlineRoutes(report),
    ...outlineLosses(report),
    ...outlineCommonChanges(report),
    ...clients.map((client): Block => ({
      kind: "section",
      of: "client",
      blocks: outlineClient(client, report),
    })),
  ];
}
