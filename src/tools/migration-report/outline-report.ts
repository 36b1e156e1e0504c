import { isDone, READINESS, type ClientGuide, type Report } from "./model.ts";
import { CHANGE_LABELS, clientAnchor, outlineClient } from "./outline-client.ts";
import { clientName, count, formatTime, percent, plural, type Block, type Line } from "./outline.ts";

function describeSpan({ since, until, days }: Report): string {
  const first = since?.slice(0, 10) ?? days[0]?.day;
  const last = until === null ? days.at(-1)?.day : new Date(Date.parse(until) - 1).toISOString().slice(0, 10);
  if (first === undefined || last === undefined) return "no records";
  return first === last ? `the records of ${first}` : `the records from ${first} to ${last}`;
}

function outlineHead(report: Report): Block[] {
  const { totals } = report;
  const alpha = totals.requests - totals.native;
  return [
    { kind: "heading", level: 1, line: ["Migration report: from alpha to v4"] },
    {
      kind: "text",
      line: [
        "A gateway translates requests of an old API, called alpha here, to the current API, v4. This report lists " +
          "the clients that still use alpha. For each client it shows, from its own requests, what to change so that " +
          `it can call v4 directly. It covers ${describeSpan(report)} (days in UTC). It was created on ` +
          `${formatTime(report.made)}.`,
      ],
    },
    {
      kind: "figures",
      figures: [
        { value: count(alpha), text: `requests in alpha, of ${count(totals.requests)}` },
        { value: percent(totals.native, totals.requests), text: "of all requests were native (v4)" },
        { value: `${totals.done} of ${totals.clients}`, text: "clients no longer use alpha" },
        { value: count(totals.calls), text: "different alpha routes in use" },
        { value: count(totals.lossy), text: "responses that lost something" },
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
function describeRemaining({ readiness, calls }: ClientGuide): string {
  if (isDone(readiness)) return "nothing";
  const none = calls.filter(({ counterpart }) => counterpart === "none").length;
  const rest = none === 0 ? "" : `, ${none} without a counterpart`;
  return `${plural(calls.length, "call")}${rest}`;
}

const createClientRow = (client: ClientGuide): Line[] => [
  [
    { link: clientName(client.userAgent, client.client), to: clientAnchor(client) },
    ...(client.client === null ? [] : [" ", { code: client.client }]),
  ],
  [{ tag: client.readiness }],
  [count(client.requests - client.native)],
  [percent(client.native, client.requests)],
  [describeRemaining(client)],
  [formatTime(client.last)],
];

function outlineClients({ clients }: Report): Block[] {
  return [
    { kind: "heading", level: 2, line: ["Clients"] },
    {
      kind: "table",
      caption: "Clients, those with the most calls to change first",
      columns: [
        { name: "Client" },
        { name: "State" },
        { name: "In alpha", number: true },
        { name: "Native", number: true },
        { name: "To change" },
        { name: "Last seen" },
      ],
      rows: clients.map(createClientRow),
    },
    {
      kind: "text",
      line: [
        "A client is a token. Only its fingerprint is stored: the first digits of its SHA-256. ",
        ...Object.entries(READINESS).flatMap(([name, words], index) => [
          index === 0 ? "" : "; ",
          { tag: name },
          ` ${words}`,
        ]),
        ".",
      ],
    },
  ];
}

/** The alpha routes in use, for all clients together. */
function outlineRoutes({ clients }: Report): Block[] {
  const calls = clients.flatMap((client) => client.calls.map((call) => ({ client, call })));
  const rows = [...Map.groupBy(calls, ({ call }) => call.route)]
    .map(([route, uses]) => ({
      route,
      v4: uses[0]?.call.v4[0] ?? "",
      counterpart: uses[0]?.call.counterpart ?? "unknown",
      requests: uses.reduce((sum, { call }) => sum + call.requests, 0),
      lossy: uses.reduce((sum, { call }) => sum + call.lossy, 0),
      clients: uses.length,
    }))
    .toSorted((one, other) => other.requests - one.requests);
  if (rows.length === 0) return [];
  return [
    { kind: "heading", level: 2, line: ["Alpha routes in use"] },
    {
      kind: "table",
      caption: "Requests of all clients",
      columns: [
        { name: "Alpha route" },
        { name: "v4 call" },
        { name: "Requests", number: true },
        { name: "Clients", number: true },
        { name: "With losses", number: true },
      ],
      rows: rows.map(({ route, v4, counterpart, requests, clients: users, lossy }) => [
        [{ code: route }],
        v4 === "" ? [{ tag: counterpart === "unneeded" ? "not needed" : "no counterpart" }] : [{ code: v4 }],
        [count(requests)],
        [count(users)],
        [count(lossy)],
      ]),
    },
  ];
}

/** The meanings of the labels. */
const MEANINGS: Readonly<Record<string, string>> = {
  [CHANGE_LABELS.renamed]: "the same value under another name",
  [CHANGE_LABELS.value]: "the same value with another word or format",
  [CHANGE_LABELS.expanded]: "alpha returned a whole object, v4 returns its id",
  [CHANGE_LABELS.composed]: "v4 returns it in another call",
  [CHANGE_LABELS.derived]: "alpha computed it from other fields",
  [CHANGE_LABELS.absent]: "v4 does not have it",
  [CHANGE_LABELS.same]: "alpha always had a value; v4 can have none",
  [CHANGE_LABELS.lossy]: "alpha could not represent all that v4 returns",
};

function outlineCommonChanges({ everyCall: differences }: Report): Block[] {
  return [
    { kind: "heading", level: 2, line: ["What changes in all calls"], id: "every-call" },
    {
      kind: "table",
      caption: "In alpha and in v4",
      columns: [{ name: "" }, { name: "In alpha" }, { name: "In v4" }],
      rows: differences.map(({ what, alpha, v4 }) => [[what], [alpha], [v4]]),
    },
    { kind: "heading", level: 3, line: ["Labels of fields"] },
    {
      kind: "list",
      lines: Object.entries(MEANINGS).map(([kind, meaning]) => [{ tag: kind }, ` ${meaning}`]),
    },
    {
      kind: "text",
      line: [
        "A formula shows how alpha's value is computed. It is JSONata on the object that v4 returned, and ",
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
    { kind: "days", days },
    ...outlineClients(report),
    ...outlineRoutes(report),
    ...outlineCommonChanges(report),
    ...clients.map((client): Block => ({
      kind: "section",
      of: "client",
      blocks: outlineClient(client),
    })),
  ];
}
