/** The dates that a plan publishes, and whether another plan shortens one. */

/** Names routes and clients: empty lists don't narrow. */
export interface Scope {
  readonly routes: readonly string[];
  /** Names of the client directory, and fingerprints of tokens. */
  readonly clients: readonly string[];
}

type DatedScope = Scope & { readonly date: number };

/** A stage with windows, from the day of the first one on. */
export interface WindowDates extends DatedScope {
  /** Name of the stage. */
  readonly stage: string;
  /** Object and field that responses lack in its windows; null: requests fail. */
  readonly field: string | null;
  /** The day before which the last window begins; null: none is the last. */
  readonly until: number | null;
}

/**
 * The dates of a plan, as the state store remembers them. Milliseconds since the epoch.
 *
 * They were announced to clients in headers and texts: an earlier one breaks a promise.
 */
export interface PlanDates {
  /** Of the whole old API. */
  readonly end: number | null;
  /** Of some routes and clients. */
  readonly ends: readonly DatedScope[];
  /** From when no new client is let in. */
  readonly freezes: readonly DatedScope[];
  /** Clients to which no stage applies before a date. */
  readonly allowed: Readonly<Record<string, number>>;
  /** The end of clients that have one of their own, in place of `end`. */
  readonly clientEnds: Readonly<Record<string, number>>;
  readonly windowStages: readonly WindowDates[];
}

/** The sender of a request: a name of the directory, and the fingerprint of the token. */
export interface PlanClient {
  readonly name: string | undefined;
  readonly fingerprint: string | undefined;
  /** The id of the application to which the token was issued. */
  readonly application?: string | undefined;
  /** The name that a trusted proxy gave. */
  readonly label?: string | undefined;
}

/** A value of the client's name, or else of its token. */
export const valueOf = <T>(
  values: Readonly<Record<string, T>>,
  { name, fingerprint }: PlanClient,
): T | undefined => {
  const key = [name, fingerprint].find((each) => each !== undefined && Object.hasOwn(values, each));
  return key === undefined ? undefined : values[key];
};

/** Whether a stage is for a client on a route. @param route null: a route that no stage names */
export const isWithin = (
  { routes, clients }: Scope,
  { name, fingerprint }: PlanClient,
  route: string | null,
): boolean =>
  (routes.length === 0 || (route !== null && routes.includes(route))) &&
  (clients.length === 0 ||
    (name !== undefined && clients.includes(name)) ||
    (fingerprint !== undefined && clients.includes(fingerprint)));

/** The first of some dates, but not before the day until which a client is allowed. */
function firstDate(
  dates: readonly (number | null | undefined)[],
  allowed: number | undefined,
): number | undefined {
  const given = dates.filter((date) => typeof date === "number");
  return given.length === 0 ? undefined : Math.max(Math.min(...given), allowed ?? 0);
}

const datesWithin = (scopes: readonly DatedScope[], client: PlanClient, route: string | null): number[] =>
  scopes.filter((scope) => isWithin(scope, client, route)).map(({ date }) => date);

/** When a route ends for a client; undefined: no date is known. */
export const endOf = (dates: PlanDates, client: PlanClient, route: string | null): number | undefined =>
  firstDate(
    [valueOf(dates.clientEnds, client) ?? dates.end, ...datesWithin(dates.ends, client, route)],
    valueOf(dates.allowed, client),
  );

const freezeOf = (dates: PlanDates, client: PlanClient, route: string | null): number | undefined =>
  firstDate(datesWithin(dates.freezes, client, route), valueOf(dates.allowed, client));

/** The day from which on windows come in which calls fail, or responses lack a field. Those before a time are over. */
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

/** A date that was published, and is earlier now. */
export interface ShortenedDate {
  readonly kind: "end" | "freeze" | "window";
  /** The route and the name of the client that it is for; null: all. Of a stage with windows both are null. */
  readonly route: string | null;
  readonly client: string | null;
  /** The stage whose windows begin earlier. */
  readonly stage?: string;
  /** The subject that ends or begins earlier, such as `the end of GET /books for billing`. */
  readonly what: string;
  /** `Infinity`: its stage was published for others only. */
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

type FindDate = (client: PlanClient, route: string | null) => number | undefined;

/** A date that clients have on routes, in two plans. */
interface ComparedDate {
  readonly kind: ShortenedDate["kind"];
  /** In words, such as `the end`. */
  readonly title: string;
  readonly before: FindDate;
  readonly now: FindDate;
}

function comparedDates(published: PlanDates, next: PlanDates, time: number): readonly ComparedDate[] {
  const fields = new Set([...published.windowStages, ...next.windowStages].map(({ field }) => field));
  /** Whether a stage of the plan was published for others only. */
  const isAdded = (client: PlanClient, route: string | null): boolean =>
    next.windowStages.some((stage) => {
      const before = published.windowStages.find((each) => each.stage === stage.stage);
      return before && isWithin(stage, client, route) && !isWithin(before, client, route);
    });
  const bothOf = (dateOf: (dates: PlanDates, ...query: Parameters<FindDate>) => number | undefined) => ({
    before: (...query: Parameters<FindDate>) => dateOf(published, ...query),
    now: (...query: Parameters<FindDate>) => dateOf(next, ...query),
  });
  return [
    { kind: "end", title: "the end", ...bothOf(endOf) },
    { kind: "freeze", title: "the freeze", ...bothOf(freezeOf) },
    ...[...fields].map((field): ComparedDate => {
      const { before, now } = bothOf((dates, ...query) => windowOf(dates, { field, time }, ...query));
      return {
        kind: "window",
        title: field === null ? "the first window" : `the first window without ${field}`,
        before: (...query) => before(...query) ?? (isAdded(...query) ? Infinity : undefined),
        now,
      };
    }),
  ];
}

/**
 * Finds the dates that were published and are earlier in another plan. Where a plan has no more dates of its own for a
 * client or a route, those for all of them count. No stage was published for a client before the day until which it is
 * allowed. Clients are compared by their names: one that gets another name is another one.
 *
 * @param time milliseconds since the epoch: windows that were published for before have been
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
  const stages = new Map(next.windowStages.map(({ stage, date }) => [stage, date]));
  for (const { stage, date } of published.windowStages) {
    const what = `the first window of "${stage}"`;
    compare({ kind: "window", route: null, client: null, stage, what }, date, stages.get(stage));
  }
  for (const { kind, title, ...dateOf } of comparedDates(published, next, time)) {
    // What a stage or the whole says already is not repeated for each part.
    const reported = new Set(
      shortened.filter((date) => date.kind === kind && date.client === null).map(({ now }) => now),
    );
    for (const route of routes)
      for (const name of clients) {
        const what = `${title}${describeScope(route, name)}`;
        const client = { name: name ?? undefined, fingerprint: undefined };
        const now = dateOf.now(client, route);
        if (now === undefined || reported.has(now)) continue;
        const before = dateOf.before(client, route) ?? valueOf(published.allowed, client);
        if (!compare({ kind, route, client: name, what }, before, now)) continue;
        if (route === null && name === null) reported.add(now);
      }
  }
  return shortened;
}
