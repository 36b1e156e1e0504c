/** What the test itself has counted: every request that was sent, and the figures that follow from them. */

const DAY_MS = 86_400_000;
/** Key of requests whose token v4 never accepted. */
const UNACCEPTED = "unaccepted";

/** A request that was sent, and the status that it got. */
export interface SentCall {
  /** Of the gateway's clock. */
  readonly time: number;
  readonly lane: "alpha" | "native";
  readonly route: string | null;
  readonly status: number;
  readonly fingerprint: string | null;
  readonly application: string | null;
  readonly userAgent: string;
}

export interface LedgerOptions {
  readonly usageRetentionDays: number;
  /** The name of a client; null: it has none. */
  readonly nameOf: (client: Pick<SentCall, "application" | "fingerprint">) => string | null;
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const isAlpha = ({ lane }: SentCall): boolean => lane === "alpha";
const isError = ({ status }: SentCall): boolean => status >= 400;
const text = (...parts: readonly unknown[]): string => parts.join("\n");
const groupBy = (calls: readonly SentCall[], keyOf: (call: SentCall) => string): readonly SentCall[][] => [
  ...Map.groupBy(calls, keyOf).values(),
];

/** Sorts rows by what they are about. */
export const sorted = <Row>(rows: readonly Row[], keyOf: (row: Row) => readonly unknown[]): Row[] =>
  rows.toSorted((one, other) => (text(...keyOf(one)) < text(...keyOf(other)) ? -1 : 1));

export class Ledger {
  readonly #calls: SentCall[] = [];
  readonly #accepted = new Set<string>();
  readonly #options: LedgerOptions;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** Notes a request. @param isAccepted Whether v4 has seen and accepted its token. */
  note(call: SentCall, isAccepted: boolean): void {
    this.#calls.push(call);
    if (isAccepted && call.fingerprint !== null) this.#accepted.add(call.fingerprint);
  }

  /** Requests so far. */
  get size(): number {
    return this.#calls.length;
  }

  /** The requests for which a condition holds, also those whose summaries are gone. */
  find(isWanted: (call: SentCall) => boolean): readonly SentCall[] {
    return this.#calls.filter(isWanted);
  }

  /** `/api/usage/routes` */
  routes(now: number) {
    return groupBy(this.#kept(now), (call) =>
      text(this.#keyOf(call), call.lane, call.route, call.status),
    ).map((same) => {
      const [{ lane, route, status } = same[0]!] = same;
      return { client: this.#keyOf(same[0]!), lane, route, status, requests: same.length };
    });
  }

  /** `/api/usage/days` */
  days(now: number) {
    return groupBy(this.#kept(now), ({ time }) => dayOf(time)).map((same) => ({
      day: dayOf(same[0]?.time ?? 0),
      alpha: same.filter(isAlpha).length,
      native: same.filter((call) => !isAlpha(call)).length,
      errors: same.filter(isError).length,
    }));
  }

  /** The clients of the report, with the keys of one name together. */
  report(now: number) {
    return groupBy(this.#kept(now), (call) => this.nameOf(call) ?? `key ${this.#keyOf(call)}`).map((own) => ({
      name: this.nameOf(own[0]!),
      client: this.#keyOf(own[0]!),
      requests: own.length,
      native: own.filter((call) => !isAlpha(call)).length,
      errors: own.filter(isError).length,
    }));
  }

  /** What the page of a client shows of its routes. */
  page(now: number, name: string) {
    const own = this.#kept(now).filter((call) => isAlpha(call) && this.nameOf(call) === name);
    return groupBy(own, ({ route }) => route ?? "").map((same) => ({
      route: same[0]?.route,
      requests: same.length,
    }));
  }

  /** The name of the client that sent a request; null: it has none. */
  nameOf(call: SentCall): string | null {
    const key = this.#keyOf(call);
    return key === null || key === UNACCEPTED ? null : this.#options.nameOf(call);
  }

  #kept(now: number): SentCall[] {
    const oldest = dayOf(now - this.#options.usageRetentionDays * DAY_MS);
    return this.#calls.filter((call) => dayOf(call.time) >= oldest);
  }

  #keyOf({ fingerprint, application }: SentCall): string | null {
    if (application !== null) return `application:${application}`;
    return fingerprint === null || this.#accepted.has(fingerprint) ? fingerprint : UNACCEPTED;
  }
}
