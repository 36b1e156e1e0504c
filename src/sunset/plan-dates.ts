/** The dates that a plan publishes, and whether another plan shortens one. */

/** Names routes and clients: empty lists don't narrow. */
export interface Scope {
  readonly routes: readonly string[];
  /** Names of the client directory, and fingerprints of tokens. */
  readonly clients: readonly string[];
}

type DatedScope = Scope & { readonly date: number };

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
  /** When the windows of each stage begin, by its name. */
  readonly windows: Readonly<Record<string, number>>;
}

/** Who sends a request: a name of the directory, and the fingerprint of the token. */
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

/** The first of some dates, and not before that until which a client is allowed. */
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

/** A client under the names of two directories. */
export interface RenamedClient {
  readonly before: PlanClient;
  readonly now: PlanClient;
}

/** A date that was published, and is earlier now. */
export interface ShortenedDate {
  readonly kind: "end" | "freeze" | "window";
  /** The route and the name of the client that it is for; null: all. Of a window both are null. */
  readonly route: string | null;
  readonly client: string | null;
  /** The stage of a window. */
  readonly stage?: string;
  /** What ends or begins earlier, such as `the end of GET /books for billing`. */
  readonly what: string;
  readonly published: number;
  readonly now: number;
}

const routesOf = ({ ends, freezes }: PlanDates): readonly string[] =>
  [...ends, ...freezes].flatMap(({ routes }) => routes);

const clientsOf = ({ ends, allowed, clientEnds }: PlanDates): readonly string[] => [
  ...ends.flatMap(({ clients }) => clients),
  ...Object.keys(allowed),
  ...Object.keys(clientEnds),
];

const describeScope = (route: string | null, client: string | null): string =>
  `${route === null ? "" : ` of ${route}`}${client === null ? "" : ` for ${client}`}`;

/**
 * Finds the dates that were published and are earlier in another plan. Where a plan has no more dates of its own for a
 * client or a route, those for all of them count.
 *
 * @param findRenamed who has a name, and what each was called when the dates were published
 */
export function findShortened(
  published: PlanDates,
  next: PlanDates,
  findRenamed: (name: string) => readonly RenamedClient[],
): readonly ShortenedDate[] {
  const routes = [null, ...new Set([...routesOf(published), ...routesOf(next)])];
  const clients = [null, ...new Set([...clientsOf(published), ...clientsOf(next)])];
  const shortened: ShortenedDate[] = [];
  function compare(
    date: Omit<ShortenedDate, "published" | "now">,
    before: number | undefined,
    now: number | undefined,
  ): boolean {
    if (before === undefined || now === undefined || now >= before) return false;
    shortened.push({ ...date, published: before, now });
    return true;
  }
  for (const [kind, dateOf] of [["end", endOf] as const, ["freeze", freezeOf] as const]) {
    const everywhere = { name: undefined, fingerprint: undefined };
    const whole = compare(
      { kind, route: null, client: null, what: `the ${kind}` },
      dateOf(published, everywhere, null),
      dateOf(next, everywhere, null),
    );
    for (const route of routes)
      for (const name of clients) {
        if (route === null && name === null) continue;
        const what = `the ${kind}${describeScope(route, name)}`;
        const renamed = name === null ? [{ before: everywhere, now: everywhere }] : findRenamed(name);
        for (const client of renamed) {
          const now = dateOf(next, client.now, route);
          // What the whole says already is not repeated for each part.
          if (whole && now === dateOf(next, everywhere, null)) continue;
          if (compare({ kind, route, client: name, what }, dateOf(published, client.before, route), now)) break;
        }
      }
  }
  for (const [stage, before] of Object.entries(published.windows)) {
    const what = `the first window of "${stage}"`;
    compare({ kind: "window", route: null, client: null, stage, what }, before, next.windows[stage]);
  }
  return shortened;
}
