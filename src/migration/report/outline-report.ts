import { describeStates, type MigrationState, UNACCEPTED } from "../../audit/index.ts";
import {
  type Block,
  type Chart,
  formatCount,
  formatDay,
  formatMinuteUtc,
  type Line,
  percent,
  plural,
  type Span,
  tableOf,
} from "../../base/index.ts";
import type { FieldClass, ApiNames } from "../../pack/index.ts";
import type { ClientGuide, Report } from "./make-report.ts";
import { clientName, isDone } from "./model.ts";
import { clientAnchor, openTokens, outlineClient } from "./outline-client.ts";
import { changeTag } from "./outline-fields.ts";
import { outlineLosses } from "./outline-losses.ts";
import { outlineRoutes } from "./outline-routes.ts";
import { outlineEveryCall, stateTag } from "./sections.ts";

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
    { kind: "heading", level: 1, line: `Migration report: from ${client} to ${upstream}` },
    {
      kind: "text",
      line:
        `A gateway translates requests of an old API, called ${client} here, to the current API, ${upstream}. This ` +
        `report lists the clients that still use ${client}. For each client it shows, from its own requests, what ` +
        `to change so that it can call ${upstream} directly. It covers ${describeSpan(report)} (days in UTC). It was created on ` +
        `${formatMinuteUtc(report.made)}.`,
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
            line: "The report is too large: the least used calls are left out.",
          },
        ]
      : []),
  ];
}

/** Describes the calls that a client must still change. */
function describeRemaining({ client, readiness, calls }: ClientGuide): string {
  if (client === UNACCEPTED) return "–";
  if (isDone(readiness)) return "nothing";
  const none = calls.filter(({ counterpart }) => counterpart === "none").length;
  const rest = none === 0 ? "" : `, ${none} without a counterpart`;
  return `${plural(calls.length, "call")}${rest}`;
}

const describeName = (client: ClientGuide): Line => [
  { link: clientName(client), to: clientAnchor(client) },
  ...(client.client === null || client.name !== null ? [] : [" ", { code: client.id }]),
];

const describeState = ({ readiness, cameBack }: ClientGuide): Line => [
  readiness === null ? "–" : stateTag(readiness),
  cameBack === null ? "" : ` came back on ${cameBack}`,
];

function outlineClients({ clients, names, quietDays }: Report): Block[] {
  const { client: old } = names;
  const table = tableOf("Clients, those with the most calls to change first", clients, [
    ["Client", describeName],
    ["State", describeState],
    [`Last ${old} call`, ({ lastAlpha }) => (lastAlpha === null ? "never" : formatMinuteUtc(lastAlpha))],
    [`In ${old}`, ({ requests, native }) => formatCount(requests - native), "number"],
    ["Native", ({ requests, native }) => percent(native, requests), "number"],
    ["To change", describeRemaining],
    ["Last seen", ({ last }) => formatMinuteUtc(last)],
  ]);
  return [
    { kind: "heading", level: 2, line: "Clients" },
    { ...table, opened: clients.map(openTokens) },
    {
      kind: "text",
      line: [
        "A client is a name, an application, or else all tokens of one user agent. Its state is that of today, whatever days the report covers. Of tokens only fingerprints are stored: the first digits of their SHA-256. ",
        ...Object.entries(describeStates(names, quietDays)).flatMap(([state, { meaning }], index): Span[] => [
          index === 0 ? "" : "; ",
          stateTag(state as MigrationState),
          ` ${meaning}`,
        ]),
        ".",
      ],
    },
  ];
}

/** Describes the meanings of the labels. */
const describeLabels = ({
  client,
  upstream,
}: ApiNames): readonly (readonly [FieldClass | "lossy", string])[] => [
  ["renamed", "the same value under another name"],
  ["value", "the same value with another word or format"],
  ["expanded", `${client} returned a whole object, ${upstream} returns its id`],
  ["composed", `${upstream} returns it in another call`],
  ["derived", `${client} computed it from other fields`],
  ["missing", `${upstream} does not have it`],
  ["same", `${client} always had a value; ${upstream} can have none`],
  ["lossy", `${client} could not represent all that ${upstream} returns`],
];

function outlineCommonChanges({ everyCall, names }: Report): Block[] {
  return [
    ...outlineEveryCall(everyCall, names),
    { kind: "heading", level: 3, line: "Labels of fields" },
    {
      kind: "list",
      items: describeLabels(names).map(([kind, meaning]) => [changeTag(kind), ` ${meaning}`]),
    },
    {
      kind: "text",
      line: [
        `A formula shows how ${names.client}'s value is computed. It is JSONata on the object that ${names.upstream} returned, and `,
        { code: "$value" },
        " is the field in the same row.",
      ],
    },
  ];
}

/** Returns the chart of the requests of each day: native ones, and alpha requests above them. */
function chartDays({ days, names: { client, upstream } }: Report): Chart {
  const describe = (day: Report["days"][number] | undefined): string =>
    `${day?.day}: ${formatCount(day?.alpha ?? 0)} in ${client}, ${formatCount(day?.native ?? 0)} native`;
  const busiest = Math.max(1, ...days.map(({ alpha, native }) => alpha + native));
  return {
    kind: "chart",
    description: `Requests by day. First ${describe(days[0])}. Last ${describe(days.at(-1))}.`,
    series: [
      { name: `native (${upstream})`, color: "native" },
      { name: `in ${client}`, color: "alpha" },
    ],
    note: `busiest day: ${plural(busiest, "request")}`,
    bars: days.map(({ day, alpha, native, alphaClients }) => ({
      label: day,
      title: `${day}: ${formatCount(alpha)} in ${client} from ${plural(alphaClients, "client")}, ${formatCount(native)} native`,
      values: [native, alpha],
    })),
    table: tableOf("", days, [
      ["Day", ({ day }) => day],
      [`In ${client}`, ({ alpha }) => formatCount(alpha), "number"],
      ["Native", ({ native }) => formatCount(native), "number"],
      [`Clients in ${client}`, ({ alphaClients }) => formatCount(alphaClients), "number"],
      ["Errors", ({ errors }) => formatCount(errors), "number"],
    ]),
  };
}

/** The report as blocks. */
export function outlineReport(report: Report): readonly Block[] {
  const { clients } = report;
  if (clients.length === 0)
    return [
      ...outlineHead(report),
      { kind: "text", line: "There are no requests yet, or their records are deleted." },
    ];
  return [
    ...outlineHead(report),
    { kind: "heading", level: 2, line: "Requests by day" },
    chartDays(report),
    ...outlineClients(report),
    ...outlineRoutes(report),
    ...outlineLosses(report),
    ...outlineCommonChanges(report),
    ...clients.map((client): Block => ({
      kind: "section",
      as: "page",
      blocks: outlineClient(client, report),
    })),
  ];
}
