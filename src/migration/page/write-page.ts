/** Writes the page as JSON and as HTML. */
import {
  type Block,
  DOCUMENT_POLICY,
  formatCount,
  formatDay,
  formatMinute,
  formatMinuteUtc,
  type Line,
  listNames,
  plural,
  renderDocument,
  tableOf,
} from "../../base/index.ts";
import { describeStates } from "../../audit/index.ts";
import { capitalize, type FieldChange } from "../report/model.ts";
import {
  describeCalls,
  describeNeeds,
  outlineCall,
  outlineEveryCall,
  outlineObjects,
  severityTag,
  stateTag,
} from "../report/sections.ts";
import type { ClientPage, PageRoute } from "./client-page.ts";

/** Removes the product's names of the two APIs from a change. */
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
    ? "No calls are counted yet."
    : [stateTag(state), ` ${describeStates(names, quietDays)[state].meaning}${last}.`];
}

function outlineHead(page: ClientPage): Block[] {
  const { names, ends, link, scopes, unmatched, routes, calls_of: callsOf } = page;
  const { client } = names;
  const whose = callsOf === "token" ? "this token" : "all tokens of this application";
  const items: Line[] = [
    describeState(page),
    `${capitalize(client)} ends for you: ${day(ends)}.`,
    ...(link === null ? [] : [["About the end: ", { code: link }]]),
    ...describeNeeds(routes, { scopes: scopes.upstream, unmatched }, names),
  ];
  return [
    { kind: "heading", level: 1, line: `Your calls of ${client}, and what takes their place` },
    { kind: "text", line: `The calls of ${whose}, as of ${formatMinuteUtc(page.made)}.` },
    { kind: "list", items },
  ];
}

function outlineWindows({ windows, names }: ClientPage): Block[] {
  if (windows.length === 0) return [];
  const table = tableOf("The next window of each stage of the plan", windows, [
    ["From (UTC)", ({ from }) => formatMinute(from)],
    ["Until (UTC)", ({ until }) => formatMinute(until)],
    [
      "What happens",
      ({ field, text }) => [
        ...(field === null ? ["Calls fail."] : ["Responses lack ", { code: field }, "."]),
        ...(text === null ? [] : [` ${text}`]),
      ],
    ],
    ["Routes", ({ routes }) => (routes.length === 0 ? "all" : listNames(routes))],
  ]);
  return [{ kind: "heading", level: 2, line: `Tests of the end of ${names.client}` }, table];
}

function outlineRoutes({ routes, names }: ClientPage): Block[] {
  if (routes.length === 0) return [{ kind: "text", line: `There are no calls of ${names.client} routes.` }];
  return [
    { kind: "heading", level: 2, line: plural(routes.length, "route") },
    tableOf("The most used first", routes, [
      [`${capitalize(names.client)} route`, ({ route }) => [{ code: route }]],
      [`In ${names.upstream}`, ({ calls, counterpart }) => describeCalls(calls, counterpart)],
      ["Requests", ({ requests }) => formatCount(requests), "number"],
      ["Last", ({ last }) => last, "number"],
      ["Ends", ({ ends }) => (ends === null ? "–" : day(ends)), "number"],
    ]),
    { kind: "heading", level: 3, line: "What changes in each" },
  ];
}

/** Returns one line for each loss, and one line for all roundings. */
function outlineLosses(losses: PageRoute["losses"]): Line[] {
  const those = (isRounding: boolean) =>
    losses.filter(({ severity }) => (severity === "rounding") === isRounding);
  const roundings = those(true).map(({ text }) => text);
  return [
    ...those(false).map(({ severity, text }): Line => [severityTag(severity), ` can be lost: ${text}.`]),
    ...(roundings.length > 0 ? [[severityTag("rounding"), ` ${roundings.join("; ")}.`]] : []),
  ];
}

function outlineRoute(route: PageRoute, { names, objects }: ClientPage): Block {
  const { requests, lossy, losses } = route;
  const changed = route.objects.filter((name) => objects.some(({ object }) => object === name));
  const lost = lossy === 0 ? "" : ` ${plural(lossy, "response")} lost something.`;
  const words = {
    summary: [
      `${plural(requests, "request")} from ${route.first} to ${route.last}.${lost} In ${names.upstream}: `,
      ...describeCalls(route.calls, route.counterpart),
    ],
    objects: changed.map((object) => ({ object, id: objectAnchor(object) })),
    details: outlineLosses(losses),
  };
  return outlineCall(route, words, names);
}

const writeHtml = (page: ClientPage): string =>
  renderDocument(`From ${page.names.client} to ${page.names.upstream}: your calls`, [
    ...outlineHead(page),
    ...outlineWindows(page),
    ...outlineRoutes(page),
    ...page.routes.map((route) => outlineRoute(route, page)),
    ...outlineObjects(page.objects, { level: 2, anchorOf: objectAnchor }, page.names),
    ...outlineEveryCall(page.every_call, page.names),
  ]);

/** The formats of the page, with their headers. */
export const PAGE_FORMATS = {
  json: { write: writeJson, headers: { "content-type": "application/json; charset=utf-8" } },
  html: {
    write: writeHtml,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `${DOCUMENT_POLICY}; frame-ancestors 'none'`,
      "referrer-policy": "no-referrer",
    },
  },
} as const;

export type PageFormat = keyof typeof PAGE_FORMATS;
