/** The counts of comparisons, as the state store has them: one value for all routes of a source. */
import { z } from "zod";
import { DIFFERENCE_KINDS } from "../../pack/index.ts";
import type { Compared, ComparisonSource, Difference, NotComparableReason } from "./comparison.ts";
import { createIsSameClient } from "./proven-by.ts";

/** How often one field of a route differed in one way. */
export interface FieldCounts {
  readonly field: string;
  readonly kind: Difference["kind"];
  /** Comparisons whose difference was confirmed. */
  count: number;
  /** Comparisons whose difference was not confirmed. */
  unstable: number;
  /** Milliseconds since the epoch. */
  first: number;
  last: number;
  /** Whose request showed it first, as {@link Compared.provenBy} says: of one client only a part of the fields is kept. */
  readonly by: string;
  /** The names of the first clients, {@link MAX_CLIENTS} at most. */
  clients: string[];
  /** Ids of examples, {@link MAX_EXAMPLES} at most. */
  examples: string[];
}

/** What was found on one route. */
export interface RouteCounts {
  comparisons: number;
  equal: number;
  /** Comparisons with a confirmed difference. */
  different: number;
  unstable: number;
  accepted: number;
  notComparable: Partial<Record<NotComparableReason, number>>;
  /** Cases that were compared, each once for each client: equal, different and accepted ones. */
  distinct: number;
  /** The same by clients, as {@link Compared.provenBy} has them, with one for all that are the same. */
  cases: Record<string, number>;
  /** Cases with a confirmed difference, each once. */
  distinctDifferent: number;
  first: number;
  last: number;
  fields: FieldCounts[];
  /** How often each line of accepted differences was used, by {@link lineKey}. */
  acceptedLines: Record<string, number>;
}

/** What the comparisons of one source have found since they began. */
export interface SourceCounts {
  readonly source: ComparisonSource;
  /** What is compared: see {@link Compared.subject}. */
  readonly subject: string;
  /** Names the sets that belong to these counts. */
  readonly epoch: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The subject before this one. Comparisons that are in flight when it changes are left out. */
  readonly before: string | null;
  /** Bytes of the examples, by clients whose requests showed their fields first. */
  exampleBytes: Record<string, number>;
  /** Routes and fields that were left out, because there are too many of them. */
  dropped: number;
  routes: Record<string, RouteCounts>;
}

export const MAX_ROUTES = 500;
/** Fields of all routes of a source: some 300 bytes each in the value that each flush rewrites. */
export const MAX_FIELDS = 1000;
export const MAX_CLIENTS = 10;
export const MAX_EXAMPLES = 3;
const MAX_LINES = 200;
/** Characters of a field's path, and of the name of a client. */
const MAX_NAME = 200;
/** Bytes of all examples of a source. */
const MAX_EXAMPLE_BYTES = 16 * 1024 * 1024;
/** The part of a bounded store that one client may fill, so that there is room for others. */
export const CLIENT_SHARE = 0.1;

const total = z.number().int().nonnegative();
const fieldSchema = z.object({
  field: z.string(),
  kind: z.enum(DIFFERENCE_KINDS),
  count: total,
  unstable: total,
  first: z.number(),
  last: z.number(),
  by: z.string(),
  clients: z.array(z.string()),
  examples: z.array(z.string()),
});
const routeSchema = z.object({
  comparisons: total,
  equal: total,
  different: total,
  unstable: total,
  accepted: total,
  notComparable: z.record(z.string(), total) as z.ZodType<RouteCounts["notComparable"]>,
  distinct: total,
  cases: z.record(z.string(), total),
  distinctDifferent: total,
  first: z.number(),
  last: z.number(),
  fields: z.array(fieldSchema),
  acceptedLines: z.record(z.string(), total),
});
const sourceSchema: z.ZodType<SourceCounts> = z.object({
  source: z.enum(["candidate", "legacy"]),
  subject: z.string(),
  epoch: z.string(),
  since: z.number(),
  before: z.string().nullable(),
  exampleBytes: z.record(z.string(), total),
  dropped: total,
  routes: z.record(z.string(), routeSchema),
});

/** Reads stored counts. @returns undefined for none, and for what no gateway has written */
export function parseCounts(text: string | undefined): SourceCounts | undefined {
  if (text === undefined) return undefined;
  try {
    return sourceSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The key of a line of accepted differences. */
export const lineKey = ({ field, kind }: Pick<Difference, "field" | "kind">): string => `${kind} ${field}`;

/** Creates counts of nothing. @param now Milliseconds since the epoch */
export const createCounts = (
  { source, subject }: Pick<Compared, "source" | "subject">,
  epoch: string,
  now: number,
  before: string | null = null,
): SourceCounts => ({
  source,
  subject,
  epoch,
  since: now,
  before,
  exampleBytes: {},
  dropped: 0,
  routes: {},
});

const createRoute = (time: number): RouteCounts => ({
  comparisons: 0,
  equal: 0,
  different: 0,
  unstable: 0,
  accepted: 0,
  notComparable: {},
  distinct: 0,
  cases: {},
  distinctDifferent: 0,
  first: time,
  last: time,
  fields: [],
  acceptedLines: {},
});

/** Whether counts have no room for another field that a client shows first. */
function isFullOfFields({ routes }: SourceCounts, by: string): boolean {
  const fields = Object.values(routes).flatMap((route) => route.fields);
  const own = fields.map((field) => field.by).filter(createIsSameClient(by)).length;
  return fields.length >= MAX_FIELDS || own >= MAX_FIELDS * CLIENT_SHARE;
}

/** The counts of a route, which begin with this; undefined if there are too many routes. */
function routeOf(counts: SourceCounts, name: string, time: number): RouteCounts | undefined {
  const found = Object.hasOwn(counts.routes, name) ? counts.routes[name] : undefined;
  if (found) return found;
  if (Object.keys(counts.routes).length >= MAX_ROUTES) {
    counts.dropped += 1;
    return undefined;
  }
  return (counts.routes[name] = createRoute(time));
}

/** The counts of a field, which begin with this; undefined if there are too many fields, or too many of one client. */
function fieldOf(
  counts: SourceCounts,
  route: RouteCounts,
  { field, kind, by }: Pick<FieldCounts, "field" | "kind" | "by">,
  time: number,
): FieldCounts | undefined {
  const found = route.fields.find((one) => one.field === field && one.kind === kind);
  if (found) return found;
  if (isFullOfFields(counts, by)) {
    counts.dropped += 1;
    return undefined;
  }
  const created: FieldCounts = {
    field,
    kind,
    count: 0,
    unstable: 0,
    first: time,
    last: time,
    by,
    clients: [],
    examples: [],
  };
  route.fields.push(created);
  return created;
}

function addClient(field: FieldCounts, client: string): void {
  if (field.clients.length < MAX_CLIENTS && !field.clients.includes(client)) field.clients.push(client);
}

function addLine(route: RouteCounts, key: string, times: number): void {
  const found = Object.hasOwn(route.acceptedLines, key);
  if (found || Object.keys(route.acceptedLines).length < MAX_LINES)
    route.acceptedLines[key] = (route.acceptedLines[key] ?? 0) + times;
}

const cut = (text: string): string => text.slice(0, MAX_NAME);

/** Counts a comparison. @returns The fields whose differences were confirmed */
export function addComparison(counts: SourceCounts, compared: Compared): readonly FieldCounts[] {
  const { route: name, time, result, reason, client, provenBy: by = "", differences } = compared;
  const { accepted = result === "accepted" ? differences : [] } = compared;
  const route = routeOf(counts, name, time);
  if (!route) return [];
  route.comparisons += 1;
  route.first = Math.min(route.first, time);
  route.last = Math.max(route.last, time);
  if (result === "not_comparable") {
    const why = reason ?? "unreadable";
    route.notComparable[why] = (route.notComparable[why] ?? 0) + 1;
    return [];
  }
  route[result] += 1;
  for (const key of new Set(accepted.map((line) => lineKey({ ...line, field: cut(line.field) }))))
    addLine(route, key, 1);
  if (result !== "different" && result !== "unstable") return [];
  // A field of a list may differ in each of its rows: the comparison counts once.
  const seen = new Set<FieldCounts>();
  for (const { field: path, kind } of differences) {
    const field = fieldOf(counts, route, { field: cut(path), kind, by }, time);
    if (!field || seen.has(field)) continue;
    seen.add(field);
    field[result === "different" ? "count" : "unstable"] += 1;
    field.first = Math.min(field.first, time);
    field.last = Math.max(field.last, time);
    if (client !== null) addClient(field, cut(client));
  }
  return result === "different" ? [...seen] : [];
}

/** Adds the counts of one route, and the ids of its examples for which there is room. */
function addRoute(into: SourceCounts, name: string, from: RouteCounts, sizeOf: (id: string) => number): void {
  const route = routeOf(into, name, from.first);
  if (!route) return;
  for (const total of ["comparisons", "equal", "different", "unstable", "accepted"] as const)
    route[total] += from[total];
  route.first = Math.min(route.first, from.first);
  route.last = Math.max(route.last, from.last);
  for (const [reason, times] of Object.entries(from.notComparable) as [NotComparableReason, number][])
    route.notComparable[reason] = (route.notComparable[reason] ?? 0) + times;
  for (const [key, times] of Object.entries(from.acceptedLines)) addLine(route, key, times);
  for (const added of from.fields) {
    const field = fieldOf(into, route, added, added.first);
    if (!field) continue;
    field.count += added.count;
    field.unstable += added.unstable;
    field.first = Math.min(field.first, added.first);
    field.last = Math.max(field.last, added.last);
    for (const client of added.clients) addClient(field, client);
    for (const id of added.examples) addExample(into, field, id, sizeOf(id));
  }
}

function addExample(counts: SourceCounts, field: FieldCounts, id: string, bytes: number): void {
  if (field.examples.length >= MAX_EXAMPLES || field.examples.includes(id)) return;
  if (!examplesOf(counts).has(id)) {
    const [sizes, isSame] = [Object.entries(counts.exampleBytes), createIsSameClient(field.by)];
    const all = sizes.reduce((sum, [, each]) => sum + each, bytes);
    const own = sizes.reduce((sum, [by, each]) => (isSame(by) ? sum + each : sum), bytes);
    if (all > MAX_EXAMPLE_BYTES || own > MAX_EXAMPLE_BYTES * CLIENT_SHARE) return void (counts.dropped += 1);
    counts.exampleBytes[field.by] = (counts.exampleBytes[field.by] ?? 0) + bytes;
  }
  field.examples.push(id);
}

/** Ids of all examples that counts refer to. */
export const examplesOf = ({ routes }: SourceCounts): ReadonlySet<string> =>
  new Set(Object.values(routes).flatMap(({ fields }) => fields.flatMap(({ examples }) => examples)));

/**
 * Adds counts to others. The numbers of distinct cases stay, since they are the sizes of sets.
 *
 * @param sizeOf Bytes of an example
 */
export function addCounts(into: SourceCounts, from: SourceCounts, sizeOf: (id: string) => number): void {
  into.dropped += from.dropped;
  for (const [name, route] of Object.entries(from.routes)) addRoute(into, name, route, sizeOf);
}
