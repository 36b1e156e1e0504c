/** The page as JSON and as HTML. */
import { formatCount, formatDay, formatMinute, formatMinuteUtc, plural } from "../../base/index.ts";
import { capitalize, describeReadiness, type FieldChange } from "../report/model.ts";
import { REPORT_POLICY, renderDocument } from "../report/html.ts";
import type { Block, Column, Line } from "../report/outline.ts";
import { describeCounterpart, READINESS_LABELS } from "../report/outline-client.ts";
import { createFieldsTable, listNames, parseSentence } from "../report/outline-fields.ts";
import type { ClientPage, PageRoute } from "./client-page.ts";

/** A change without the names that this product has for the two APIs. */
const writeChange = ({ field, v4, values, ...rest }: FieldChange) => ({
  name: field,
  upstream: v4,
  ...rest,
  values: values.map(({ alpha, v4: upstream }) => ({ client: alpha, upstream })),
});

function writeJson({ routes, objects, every_call: everyCall, ...page }: ClientPage): string {
  const written = {
    ...page,
    routes: routes.map(({ scope, sends, filters, ...route }) => ({
      ...route,
      scope: scope && { client: scope.alpha, upstream: scope.v4 },
      sends: sends.map(writeChange),
      filters: filters.map(writeChange),
    })),
    objects: objects.map(({ fields, ...object }) => ({ ...object, fields: fields.map(writeChange) })),
    every_call: everyCall.map(({ what, alpha, v4 }) => ({ what, client: alpha, upstream: v4 })),
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}

const objectAnchor = (name: string): string => `object-${name}`;

const day = (time: string | null): string => (time === null ? "no date is known" : formatDay(time));

function describeState({ state, names, quiet_days: quietDays, last_call: lastCall }: ClientPage): Line {
  const last = lastCall === null ? "" : `; the last ${names.client} call was on ${lastCall}`;
  return state === null
    ? ["No calls are counted yet."]
    : [{ tag: READINESS_LABELS[state] }, ` ${describeReadiness(names, quietDays)[state]}${last}.`];
}

function outlineHead(page: ClientPage): Block[] {
  const { names, ends, link, scopes, unmatched, routes, calls_of: callsOf } = page;
  const { client, upstream } = names;
  const whose = callsOf === "token" ? "this token" : "all tokens of this application";
  const without = routes.filter(({ counterpart }) => counterpart === "none").map(({ route }) => route);
  const lines: Line[] = [
    describeState(page),
    [`${capitalize(client)} ends for you: ${day(ends)}.`],
    ...(link === null ? [] : [["About the end: ", { code: link }]]),
    ...(scopes.upstream.length === 0
      ? []
      : [[`Scopes to request in ${upstream}: `, ...listNames(scopes.upstream), "."]]),
    ...(without.length === 0 ? [] : [[`Without a counterpart in ${upstream}: `, ...listNames(without), "."]]),
    ...(unmatched === 0
      ? []
      : [[`${plural(unmatched, "request")} had paths that ${client} never had: an error of the client.`]]),
  ];
  return [
    { kind: "heading", level: 1, line: [`Your calls of ${client}, and what takes their place`] },
    {
      kind: "text",
      line: [`The calls of ${whose}, as of ${formatMinuteUtc(page.made)}.`],
    },
    { kind: "list", lines },
  ];
}

function outlineWindows({ windows, names }: ClientPage): Block[] {
  if (windows.length === 0) return [];
  const columns: Column[] = [
    { name: "From (UTC)" },
    { name: "Until (UTC)" },
    { name: "What happens" },
    { name: "Routes" },
  ];
  const rows = windows.map(({ from, until, field, routes, text }): Line[] => [
    [formatMinute(from)],
    [formatMinute(until)],
    [
      ...(field === null ? ["Calls fail."] : ["Responses lack ", { code: field }, "."]),
      ...(text === null ? [] : [` ${text}`]),
    ],
    routes.length === 0 ? ["all"] : listNames(routes),
  ]);
  return [
    { kind: "heading", level: 2, line: [`Tests of the end of ${names.client}`] },
    { kind: "table", caption: "The next window of each stage of the plan", columns, rows },
  ];
}

const upstreamCalls = ({ calls, counterpart }: PageRoute): Line =>
  calls.length > 0
    ? listNames(calls)
    : [{ tag: counterpart === "unneeded" ? "not needed" : "no counterpart" }];

function outlineRoutes({ routes, names }: ClientPage): Block[] {
  if (routes.length === 0) return [{ kind: "text", line: [`There are no calls of ${names.client} routes.`] }];
  const columns: Column[] = [
    { name: `${capitalize(names.client)} route` },
    { name: `In ${names.upstream}` },
    { name: "Requests", number: true },
    { name: "Last", number: true },
    { name: "Ends", number: true },
  ];
  const rows = routes.map((route): Line[] => [
    [{ code: route.route }],
    upstreamCalls(route),
    [formatCount(route.requests)],
    [route.last],
    [route.ends === null ? "–" : day(route.ends)],
  ]);
  return [
    { kind: "heading", level: 2, line: [plural(routes.length, "route")] },
    { kind: "table", caption: "The most used first", columns, rows },
    { kind: "heading", level: 3, line: ["What changes in each"] },
  ];
}

/** One line for each loss, and one for all roundings. */
function outlineLosses(losses: PageRoute["losses"]): Line[] {
  const those = (isRounding: boolean) =>
    losses.filter(({ severity }) => (severity === "rounding") === isRounding);
  const roundings = those(true).map(({ text }) => text);
  return [
    ...those(false).map(({ severity, text }): Line => [{ tag: severity }, ` can be lost: ${text}.`]),
    ...(roundings.length > 0 ? [[{ tag: "rounding" }, ` ${roundings.join("; ")}.`]] : []),
  ];
}

function outlineRoute(route: PageRoute, { names, objects }: ClientPage): Block {
  const { requests, lossy, scope, losses, notes, sends, filters, counterpart } = route;
  const changed = route.objects.filter((name) => objects.some(({ object }) => object === name));
  const lost = lossy === 0 ? "" : ` ${plural(lossy, "response")} lost something.`;
  const lines: Line[] = [
    ...(scope ? [["Scope: ", { code: scope.alpha }, " becomes ", { code: scope.v4 }, "."]] : []),
    ...(changed.length === 0
      ? []
      : [
          [
            "The response: see ",
            ...changed.flatMap((name, index): Line => [
              index === 0 ? "" : ", ",
              { link: name, to: objectAnchor(name) },
            ]),
            " below.",
          ],
        ]),
    ...outlineLosses(losses),
    ...notes.map(parseSentence),
  ];
  return {
    kind: "section",
    of: "call",
    blocks: [
      { kind: "heading", level: 4, line: [{ code: route.route }] },
      {
        kind: "text",
        line: [
          `${plural(requests, "request")} from ${route.first} to ${route.last}.${lost} In ${names.upstream}: `,
          ...upstreamCalls(route),
        ],
      },
      ...(counterpart === "call" ? [] : [{ kind: "text" as const, line: describeCounterpart(route, names) }]),
      ...(filters.length > 0 ? [createFieldsTable("Fields in filters", filters, names)] : []),
      ...(sends.length > 0 ? [createFieldsTable("Members of the body", sends, names)] : []),
      ...(lines.length > 0 ? [{ kind: "list" as const, lines }] : []),
    ],
  };
}

function outlineObjects({ objects, names }: ClientPage): Block[] {
  if (objects.length === 0) return [];
  return [
    { kind: "heading", level: 2, line: ["What changes in responses"] },
    ...objects.map(({ object, fields }): Block => ({
      kind: "section",
      of: "part",
      blocks: [
        { kind: "heading", level: 3, line: [{ code: object }], id: objectAnchor(object) },
        createFieldsTable(`Fields of ${object} that change`, fields, names),
      ],
    })),
  ];
}

function outlineEveryCall({ every_call: differences, names }: ClientPage): Block[] {
  const columns = [{ name: "" }, { name: `In ${names.client}` }, { name: `In ${names.upstream}` }];
  return [
    { kind: "heading", level: 2, line: ["What changes in all calls"] },
    {
      kind: "table",
      caption: `In ${names.client} and in ${names.upstream}`,
      columns,
      rows: differences.map(({ what, alpha, v4 }) => [[what], [alpha], [v4]]),
    },
  ];
}

const writeHtml = (page: ClientPage): string =>
  renderDocument(`From ${page.names.client} to ${page.names.upstream}: your calls`, [
    ...outlineHead(page),
    ...outlineWindows(page),
    ...outlineRoutes(page),
    ...page.routes.map((route) => outlineRoute(route, page)),
    ...outlineObjects(page),
    ...outlineEveryCall(page),
  ]);

/** The formats of the page, with their headers. */
export const PAGE_FORMATS = {
  json: { write: writeJson, headers: { "content-type": "application/json; charset=utf-8" } },
  html: {
    write: writeHtml,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `${REPORT_POLICY}; frame-ancestors 'none'`,
      "referrer-policy": "no-referrer",
    },
  },
} as const;

export type PageFormat = keyof typeof PAGE_FORMATS;
