/** The dates that a plan publishes, and the check whether a new plan shortens one. */
import { z } from "zod";

const names = z.array(z.string()).readonly();

/** Routes and clients: empty lists don't restrict. Clients are names in the client directory, and fingerprints of tokens. */
const scope = z.object({ routes: names, clients: names });
export type Scope = z.output<typeof scope>;

const datedScope = scope.extend({ date: z.number() });
type DatedScope = z.output<typeof datedScope>;

/** A stage with brown-outs, starting with the day of the first one. */
const windowDates = datedScope.extend({
  /** Name of the stage. */
  stage: z.string(),
  /** Object and field that responses lack during its brown-outs; null: requests fail. */
  field: z.string().nullable(),
  /** The day before which the last brown-out starts. Null if there is no last one. */
  until: z.number().nullable(),
});

/**
 * The dates of a plan in the state store. Milliseconds since the epoch.
 *
 * They were announced to clients in headers and texts: an earlier date breaks a promise.
 */
export const PLAN_DATES = z.object({
  /** Dates of the whole old API. */
  end: z.number().nullable(),
  /** Dates of some routes and clients. */
  ends: z.array(datedScope).readonly(),
  /** Dates from which new clients are refused. */
  freezes: z.array(datedScope).readonly(),
  /** Clients to which no stage applies before a date. */
  allowed: z.record(z.string(), z.number()),
  /** The end dates of clients that have their own, instead of `end`. */
  clientEnds: z.record(z.string(), z.number()),
  windowStages: z.array(windowDates).readonly(),
});
export type PlanDates = z.output<typeof PLAN_DATES>;

/** The sender of a request: a name in the directory, and the fingerprint of the token. */
export interface PlanClient {
  readonly name: string | undefined;
  readonly fingerprint: string | undefined;
  /** The id of the application to which the token was issued. */
  readonly application?: string | undefined;
  /** The name that a trusted proxy sent. */
  readonly label?: string | undefined;
}

/** Returns the value for the client's name, otherwise for its token. */
export const valueOf = <T>(
  values: Readonly<Record<string, T>>,
  { name, fingerprint }: PlanClient,
): T | undefined => {
  const key = [name, fingerprint].find((each) => each !== undefined && Object.hasOwn(values, each));
  return key === undefined ? undefined : values[key];
};

/** Whether a stage applies to a client on a route. @param route null: a route that no stage names */
export const isWithin = (
  { routes, clients }: Scope,
  { name, fingerprint }: PlanClient,
  route: string | null,
): boolean =>
  (routes.length === 0 || (route !== null && routes.includes(route))) &&
  (clients.length === 0 ||
    (name !== undefined && clients.includes(name)) ||
    (fingerprint !== undefined && clients.includes(fingerprint)));

/** Returns the first of some dates, but not before the day until which a client is allowed. */
function firstDate(
  dates: readonly (number | null | undefined)[],
  allowed: number | undefined,
): number | undefined {
  const given = dates.filter((date) => typeof date === "number");
  return given.length === 0 ? undefined : Math.max(Math.min(...given), allowed ?? 0);
}

const datesWithin = (scopes: readonly DatedScope[], client: PlanClient, route: string | null): number[] =>
  scopes.filter((scope) => isWithin(scope, client, route)).map(({ date }) => date);

/** Returns the date on which a route ends for a client; undefined: no date is known. */
export const endOf = (dates: PlanDates, client: PlanClient, route: string | null): number | undefined =>
  firstDate(
    [valueOf(dates.clientEnds, client) ?? dates.end, ...datesWithin(dates.ends, client, route)],
    valueOf(dates.allowed, client),
  );

const freezeOf = (dates: PlanDates, client: PlanClient, route: string | null): number | undefined =>
  firstDate(datesWithin(dates.freezes, client, route), valueOf(dates.allowed, client));

/** Returns the day from which brown-outs make calls fail, or remove a field. Earlier brown-outs are ignored. */
function windowOf(
  { windowStages, allowed }: PlanDates,
  { field, time }: { readonly field: string | null; readonly time: number },
  client: PlanClient,
  route: string | null,
): number | undefined {
  const allowedUntil = valueOf(allowed, client);
  const windows = windowStages.filter(
    ({ until, field: its }) => its === field && (until ?? Infinity) > Math.max(time, allowedUntil ?? 0),
  );
  return firstDate(datesWithin(windows, client, route), allowedUntil);
}

/** A published date that is now earlier. */
export interface ShortenedDate {
  readonly kind: "end" | "freeze" | "window";
  /** The route and the name of the affected client; null: all. Both are null for a stage with brown-outs. */
  readonly route: string | null;
  readonly client: string | null;
  /** The stage whose brown-outs start earlier. */
  readonly stage?: string;
  /** The subject that ends or starts earlier, such as `the end of GET /books for billing`. */
  readonly what: string;
  /** The published date. `Infinity`: its stage was only published for other clients. */
  readonly published: number;
  readonly now: number;
}

const routesOf = ({ ends, freezes, windowStages }: PlanDates): readonly string[] =>
  [...ends, ...freezes, ...windowStages].flatMap(({ routes }) => routes);

const clientsOf = ({ ends, windowStages, allowed, clientEnds }: PlanDates): readonly string[] => [
  ...[...ends, ...windowStages].flatMap(({ clients }) => clients),
  ...Object.keys(allowed),
  ...Object.keys(clientEnds),
];

const describeScope = (route: string | null, client: string | null): string =>
  `${route === null ? "" : ` of ${route}`}${client === null ? "" : ` for ${client}`}`;

/** A date for clients on routes. */
interface ComparedDate {
  readonly kind: ShortenedDate["kind"];
  /** As text, such as `the end`. */
  readonly title: string;
  readonly dateOf: (dates: PlanDates, client: PlanClient, route: string | null) => number | undefined;
}

const comparedDates = (fields: Iterable<string | null>, time: number): readonly ComparedDate[] => [
  { kind: "end", title: "the end", dateOf: endOf },
  { kind: "freeze", title: "the freeze", dateOf: freezeOf },
  ...[...fields].map((field): ComparedDate => ({
    kind: "window",
    title: field === null ? "the first window" : `the first window without ${field}`,
    dateOf: (dates, ...query) => windowOf(dates, { field, time }, ...query),
  })),
];

/** Whether a stage with brown-outs applies to a client on a route, but was only published for other clients. */
const isAdded = (published: PlanDates, next: PlanDates, client: PlanClient, route: string | null): boolean =>
  next.windowStages.some((stage) => {
    const before = published.windowStages.find((each) => each.stage === stage.stage);
    return before && isWithin(stage, client, route) && !isWithin(before, client, route);
  });

/**
 * Finds the published dates that are earlier in a new plan. If a plan has no specific date for a client or a route, the
 * general dates apply. If a plan allows a client until a day, no stage counts as published for this client before that day. Clients are
 * compared by name: a renamed client is a new client.
 *
 * @param time milliseconds since the epoch: brown-outs that were published for earlier times have ended
 */
export function findShortened(published: PlanDates, next: PlanDates, time: number): readonly ShortenedDate[] {
  const routes = [null, ...new Set([...routesOf(published), ...routesOf(next)])];
  const clients = [null, ...new Set([...clientsOf(published), ...clientsOf(next)])];
  const shortened: ShortenedDate[] = [];
  function compare(
    date: Omit<ShortenedDate, "published" | "now">,
    before: number | undefined,
    now: number | undefined,
  ): boolean {
    if (before === undefined || now === undefined || now >= before) return false;
    if (date.kind === "window" && time >= before) return false;
    shortened.push({ ...date, published: before, now });
    return true;
  }
  const fields = new Set([...published.windowStages, ...next.windowStages].map(({ field }) => field));
  const stages = new Map(next.windowStages.map(({ stage, date }) => [stage, date]));
  for (const { stage, date } of published.windowStages) {
    const what = `the first window of "${stage}"`;
    compare({ kind: "window", route: null, client: null, stage, what }, date, stages.get(stage));
  }
  for (const { kind, title, dateOf } of comparedDates(fields, time)) {
    // A part does not repeat the dates of its stage or of the whole API.
    const reported = new Set(
      shortened.filter((date) => date.kind === kind && date.client === null).map(({ now }) => now),
    );
    for (const route of routes)
      for (const name of clients) {
        const what = `${title}${describeScope(route, name)}`;
        const client = { name: name ?? undefined, fingerprint: undefined };
        const now = dateOf(next, client, route);
        if (now === undefined || reported.has(now)) continue;
        const wasForOthers = kind === "window" && isAdded(published, next, client, route);
        const before =
          dateOf(published, client, route) ?? (wasForOthers ? Infinity : valueOf(published.allowed, client));
        if (!compare({ kind, route, client: name, what }, before, now)) continue;
        if (route === null && name === null) reported.add(now);
      }
  }
  return shortened;
}
