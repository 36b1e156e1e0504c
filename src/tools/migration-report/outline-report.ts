import { clientAnchor, KINDS, outlineClient } from "./outline-client.ts";
import type { Block, Line } from "./outline.ts";
import type { ClientGuide, Report } from "./model.ts";
import { isDone, READINESS } from "./readiness.ts";
import { clientName, count, moment, percent, plural } from "./words.ts";

function spanOf({ since, until, days }: Report): string {
  const first = since?.slice(0, 10) ?? days[0]?.day;
  const last = until === null ? days.at(-1)?.day : new Date(Date.parse(until) - 1).toISOString().slice(0, 10);
  if (first === undefined || last === undefined) return "nothing was recorded";
  return first === last ? `what was recorded on ${first}` : `what was recorded from ${first} to ${last}`;
}

function head(report: Report): Block[] {
  const { totals } = report;
  const alpha = totals.requests - totals.native;
  return [
    { kind: "heading", level: 1, line: ["Migration report: from alpha to v4"] },
    {
      kind: "text",
      line: [
        "A gateway stands between programs that still speak an old interface, called alpha here, and the current " +
          "one, v4. It translates each call. This report says who still depends on it, and tells each of them, out " +
          `of its own calls, what to change so that it can call v4 by itself. It shows ${spanOf(report)} (days in ` +
          `UTC), and was made on ${moment(report.made)}.`,
      ],
    },
    {
      kind: "figures",
      figures: [
        { value: count(alpha), text: `requests in alpha, of ${count(totals.requests)}` },
        { value: percent(totals.native, totals.requests), text: "of all requests were native (v4 itself)" },
        { value: `${totals.done} of ${totals.clients}`, text: "clients no longer speak alpha" },
        { value: count(totals.calls), text: "different alpha calls in use" },
        { value: count(totals.lossy), text: "answers that could not keep something" },
      ],
    },
    ...(report.cut
      ? [
          {
            kind: "text" as const,
            line: ["There is more than a report can hold: the least used calls are left out."],
          },
        ]
      : []),
  ];
}

/** What is left of it, in one phrase. */
function left({ readiness, calls }: ClientGuide): string {
  if (isDone(readiness)) return "nothing";
  const none = calls.filter(({ counterpart }) => counterpart === "none").length;
  const rest = none === 0 ? "" : `, ${none} without a counterpart`;
  return `${plural(calls.length, "call")}${rest}`;
}

const clientRow = (client: ClientGuide): Line[] => [
  [
    { link: clientName(client.userAgent, client.client), to: clientAnchor(client) },
    ...(client.client === null ? [] : [" ", { code: client.client }]),
  ],
  [{ tag: client.readiness }],
  [count(client.requests - client.native)],
  [percent(client.native, client.requests)],
  [left(client)],
  [moment(client.last)],
];

function clientsTable({ clients }: Report): Block[] {
  return [
    { kind: "heading", level: 2, line: ["Clients"] },
    {
      kind: "table",
      caption: "Clients, those with most to do first",
      columns: [
        { name: "Client" },
        { name: "State" },
        { name: "In alpha", number: true },
        { name: "Native", number: true },
        { name: "Left to change" },
        { name: "Last seen" },
      ],
      rows: clients.map(clientRow),
    },
    {
      kind: "text",
      line: [
        "A client is a token, which is known by its fingerprint (the first digits of its SHA-256), never by itself. ",
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

/** Alpha calls in use, over all clients. */
function leftOver({ clients }: Report): Block[] {
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
    { kind: "heading", level: 2, line: ["What is still called in alpha"] },
    {
      kind: "table",
      caption: "Alpha calls in use, over all clients",
      columns: [
        { name: "Alpha call" },
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

/** What the words mean that stand before the change of a field. */
const MEANINGS: Readonly<Record<string, string>> = {
  [KINDS.renamed]: "the same under another name",
  [KINDS.value]: "the same thing in other words or another form",
  [KINDS.expanded]: "alpha showed a whole object, v4 its id",
  [KINDS.composed]: "v4 tells it in a call of its own",
  [KINDS.derived]: "alpha computed it from other fields",
  [KINDS.absent]: "v4 has no such thing",
  [KINDS.same]: "alpha always had a value, where v4 may have none",
  [KINDS.lossy]: "alpha could not show all that v4 has: v4 tells more",
};

function everyCall({ everyCall: differences }: Report): Block[] {
  return [
    { kind: "heading", level: 2, line: ["What changes in every call"], id: "every-call" },
    {
      kind: "table",
      caption: "In alpha and in v4",
      columns: [{ name: "" }, { name: "In alpha" }, { name: "In v4" }],
      rows: differences.map(({ what, alpha, v4 }) => [[what], [alpha], [v4]]),
    },
    { kind: "heading", level: 3, line: ["How the guides speak of fields"] },
    {
      kind: "list",
      lines: Object.entries(MEANINGS).map(([kind, meaning]) => [{ tag: kind }, ` ${meaning}`]),
    },
    {
      kind: "text",
      line: [
        "Formulas say exactly what alpha made of v4's answer: they are JSONata over the object that v4 gave, and ",
        { code: "$value" },
        " is the field that stands beside them.",
      ],
    },
  ];
}

/** A report as blocks to be written in some form. */
export function outlineReport(report: Report): readonly Block[] {
  const { days, clients } = report;
  if (clients.length === 0)
    return [
      ...head(report),
      { kind: "text", line: ["Nobody has called yet, or what was recorded is deleted already."] },
    ];
  return [
    ...head(report),
    { kind: "heading", level: 2, line: ["Day by day"] },
    { kind: "days", days },
    ...clientsTable(report),
    ...leftOver(report),
    ...everyCall(report),
    ...clients.map((client): Block => ({
      kind: "section",
      of: "client",
      blocks: outlineClient(client),
    })),
  ];
}
