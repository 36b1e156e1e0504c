import type { AuditRecord } from "../../audit/record.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { explainBody } from "../explain/explain-body.ts";
import { isTruncated } from "../explain/recorded.ts";
import type { Pack } from "../../mapping/pack.ts";
import { compileGetter } from "../../mapping/compile/member-paths.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { commandBefore, commandsAfter, isOf, v4Calls } from "./commands.ts";
import type { CallSummary } from "./evidence.ts";
import { fieldChange } from "./field-changes.ts";
import type { CallGuide, Counterpart, FieldChange } from "./model.ts";
import { scopePair } from "./scopes.ts";

const NONE: ReadonlyMap<string, string> = new Map();

/** The record that shows most of how a call is made: a success, and of those the one that says most. */
function tellingOf(records: readonly AuditRecord[]): AuditRecord | undefined {
  const weight = ({ alpha }: AuditRecord): number =>
    (alpha.status === 200 ? 1e9 : 0) +
    (alpha.filter ?? "").length +
    alpha.query.length +
    (isObject(alpha.body) && !isTruncated(alpha.body) ? JSON.stringify(alpha.body).length : 0);
  return records.reduce<AuditRecord | undefined>(
    (best, record) => (best && weight(best) >= weight(record) ? best : record),
    undefined,
  );
}

const bodiesOf = (records: readonly AuditRecord[]): Record<string, unknown>[] =>
  records.map(({ alpha }) => alpha.body).filter((body) => isObject(body) && !isTruncated(body)) as never;

/** Members that change, of those that were seen; of all that the route takes where no body was recorded. */
function sent(route: Route, records: readonly AuditRecord[], pack: Pack): FieldChange[] {
  const bodies = bodiesOf(records);
  return (route.body?.members ?? []).flatMap(({ name, rule }) => {
    const spelling = [name, ...(rule.also ?? [])].find((each) =>
      bodies.some((body) => compileGetter(each)(body) !== undefined),
    );
    if (bodies.length > 0 && spelling === undefined) return [];
    const change = fieldChange(name, rule, { pack, direction: "write", besides: NONE });
    const under = spelling !== undefined && spelling !== rule.v4 ? spelling : undefined;
    if (change) return [{ ...change, field: spelling ?? name }];
    return under === undefined || under === name ? [] : [otherName(under, rule.v4 ?? name)];
  });
}

const otherName = (field: string, v4: string): FieldChange => ({
  field,
  v4,
  class: "renamed",
  change: "Renamed.",
  values: [],
  formula: null,
  loss: null,
});

/** All names in a filter, at any depth. */
function namesIn(filter: unknown): string[] {
  if (Array.isArray(filter)) return filter.flatMap(namesIn);
  if (!isObject(filter)) return typeof filter === "string" ? [filter] : [];
  return Object.entries(filter).flatMap(([name, value]) => [name, ...namesIn(value)]);
}

function parsed(filter: string): unknown {
  try {
    return JSON.parse(filter);
  } catch {
    return undefined;
  }
}

/** Fields of filters that change, of those that were seen. A name is a key, or what is sorted by. */
function filtered(route: Route, records: readonly AuditRecord[], pack: Pack): FieldChange[] {
  const names = new Set(records.flatMap(({ alpha }) => (alpha.filter ? namesIn(parsed(alpha.filter)) : [])));
  return [...route.resource.members].flatMap(([name, rule]) => {
    if (rule.filter !== true || !names.has(name)) return [];
    return fieldChange(name, rule, { pack, direction: "write", besides: NONE }) ?? [];
  });
}

/** v4 members that the gateway put into the bodies that were seen. */
const added = (route: Route, records: readonly AuditRecord[]): string[] => [
  ...new Set(records.flatMap((record) => explainBody(record, route)?.added ?? [])),
];

/** Reads that were made before the call, to tell faults of its body: what the client is told late from now on. */
function checkedBefore({ prerequisites }: Route, records: readonly AuditRecord[]): string[] {
  const made = prerequisites.filter(({ endpoint }) =>
    records.some(({ v4 }) => v4.some((call) => isOf(endpoint, call))),
  );
  if (made.length === 0) return [];
  const calls = made.map(({ endpoint }) => `\`${endpoint.method} ${endpoint.template}\``);
  return [`The gateway asked ${calls.join(", ")} beforehand, to check what was sent.`];
}

function notesOf(route: Route, records: readonly AuditRecord[]): string[] {
  const dropped = new Set(records.flatMap((record) => explainBody(record, route)?.dropped ?? []));
  const names = [...dropped].map((name) => `\`${name}\``).join(", ");
  const { wait, where, limit, aggregation } = route;
  return [
    ...(dropped.size === 0 ? [] : [`Sent so far for nothing, since no interface knows it: ${names}.`]),
    ...(wait
      ? [
          `The gateway waited up to ${wait.timeoutMs / 1000} s for what was under way; v4 refuses the call meanwhile: ` +
            "ask again then.",
        ]
      : []),
    ...checkedBefore(route, records),
    ...(where === undefined
      ? []
      : [`The gateway narrowed the list by \`${JSON.stringify(where)}\`: without it there are more rows.`]),
    ...(aggregation === undefined
      ? []
      : ["The gateway read v4's whole list and paged it by itself: v4's pages are others."]),
    ...(limit === undefined
      ? []
      : ["The gateway had a lower rate limit for this call; from now on v4's own limits hold."]),
  ];
}

function counterpartOf(route: Route): Counterpart {
  const { source, response, name } = route;
  if ("error" in source) return "none";
  const reads = "call" in source && source.call.method === "GET";
  return reads && response === "nothing" && !name.startsWith("GET ") ? "unneeded" : "call";
}

type Counts = Pick<CallGuide, "route" | "requests" | "statuses" | "lossy" | "last">;

function countsOf({ route, statuses, requests }: CallSummary): Counts {
  return {
    route,
    requests,
    statuses: statuses.map(({ status, requests: count }) => ({ status, requests: count })),
    lossy: statuses.reduce((sum, { lossy }) => sum + lossy, 0),
    last: statuses.reduce((latest, { last }) => (last > latest ? last : latest), ""),
  };
}

/** Makes the guide of one call from records of it, the newest first. */
export function guideCall(called: CallSummary, records: readonly AuditRecord[], pack: Pack): CallGuide {
  const route = pack.route(called.route);
  const record = tellingOf(records);
  const common = {
    ...countsOf(called),
    record: record?.id ?? null,
    before: commandBefore(record, called.route, pack),
  };
  if (!route) {
    const nothing = { v4: [], after: [], sends: [], adds: [], filters: [], gets: [], notes: [], scope: null };
    return { ...common, ...nothing, counterpart: "unknown", reason: "No route of today's pack." };
  }
  const counterpart = counterpartOf(route);
  const { source, access } = route;
  return {
    ...common,
    counterpart,
    reason: "error" in source ? source.error.reason : null,
    v4: counterpart === "call" ? v4Calls(route, pack) : [],
    scope: typeof access === "string" ? null : scopePair(access, pack.dialect),
    after: counterpart === "call" ? commandsAfter(record, route, pack) : [],
    sends: counterpart === "call" ? sent(route, records, pack) : [],
    adds: added(route, records),
    filters: filtered(route, records, pack),
    gets: ["list", "object"].includes(route.response) && counterpart === "call" ? route.responseObjects : [],
    notes: notesOf(route, records),
  };
}
