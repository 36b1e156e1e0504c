/** What the test itself has counted: every request that was sent, and the figures that follow from them. */
import type { MigrationState } from "../../../../src/audit/usage/migration-state.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Key of requests whose token v4 never accepted. */
const UNACCEPTED = "unaccepted";

const isClientKey = (key: string | null): boolean => key !== null && key !== UNACCEPTED;

/** A request that was sent, and the status that it got. */
export interface SentCall {
  /** Of the gateway's clock. A record has the time at which its request began, a little earlier. */
  readonly time: number;
  readonly lane: "alpha" | "native";
  readonly route: string | null;
  readonly status: number;
  readonly fingerprint: string | null;
  readonly application: string | null;
  readonly userAgent: string;
  readonly names: readonly string[];
  /** What its response lost, as the pack words it. */
  readonly losses: readonly string[];
}

/** Days to count, from the first to the last one: `2026-01-05`. */
export interface Range {
  readonly first?: string;
  readonly last?: string;
  readonly lane?: SentCall["lane"];
}

export interface LedgerOptions {
  readonly usageRetentionDays: number;
  readonly quietDays: number;
  /** The name of a client; null: it has none. */
  readonly nameOf: (client: Pick<SentCall, "application" | "fingerprint">) => string | null;
}

/** A record begins less than a minute before the time at which the clock stands: all times are whole minutes. */
export const toMinute = (time: string | null): string | null =>
  time === null ? null : minuteText(Math.ceil(Date.parse(time) / MINUTE_MS) * MINUTE_MS);
/** A difference of two times. */
export const toMinutes = (ms: number | null): number | null =>
  ms === null ? null : Math.round(ms / MINUTE_MS);

const minuteText = (time: number): string => new Date(time).toISOString().slice(0, 16);
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** The first product of a user agent, without its version. */
const programOf = (userAgent: string): string | undefined => userAgent.split(/[/ ]/, 1)[0];
const isError = ({ status }: SentCall): boolean => status >= 400;
const isLossy = ({ losses }: SentCall): boolean => losses.length > 0;
const isAlpha = ({ lane }: SentCall): boolean => lane === "alpha";
const timesOf = (calls: readonly SentCall[]): number[] => calls.map(({ time }) => time);
const lastOf = (calls: readonly SentCall[]): string | null =>
  calls.length === 0 ? null : minuteText(Math.max(...timesOf(calls)));
const spanOf = (calls: readonly SentCall[]) => ({
  first: minuteText(Math.min(...timesOf(calls))),
  last: minuteText(Math.max(...timesOf(calls))),
});
const groupBy = (calls: readonly SentCall[], keyOf: (call: SentCall) => string): readonly SentCall[][] => [
  ...Map.groupBy(calls, keyOf).values(),
];
const text = (...parts: readonly unknown[]): string => parts.join("\n");

/** Sorts rows by what they are about. */
export const sorted = <Row>(rows: readonly Row[], keyOf: (row: Row) => readonly unknown[]): Row[] =>
  rows.toSorted((one, other) => (text(...keyOf(one)) < text(...keyOf(other)) ? -1 : 1));

/** The longest pause between the last alpha call of a day and the first one of the next day that has any, in minutes. */
function longestPause(calls: readonly SentCall[]): number | null {
  const days = groupBy(calls.filter(isAlpha), ({ time }) => dayOf(time)).toSorted((one, other) =>
    dayOf(one[0]?.time ?? 0) < dayOf(other[0]?.time ?? 0) ? -1 : 1,
  );
  const pauses = days
    .slice(1)
    .map((day, index) => Math.min(...timesOf(day)) - Math.max(...timesOf(days[index] ?? [])));
  return pauses.length === 0 ? null : toMinutes(Math.max(...pauses));
}

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

  /** Whether a request is one of a client: without a token, or with one that v4 has accepted. */
  isAccepted(call: SentCall): boolean {
    return this.#keyOf(call) !== UNACCEPTED;
  }

  /** How many different clients sent some requests. */
  countClients(calls: readonly SentCall[]): number {
    return new Set(calls.map((call) => this.nameOf(call) ?? this.#keyOf(call))).size;
  }

  /** `/api/usage/clients` */
  clients(now: number, range: Range = {}) {
    const calls = this.#kept(now, range);
    return groupBy(calls, (call) => this.#keyOf(call) ?? "").map((own) => {
      const client = this.#client(own, now);
      const otherAgents = this.#otherAgents(client, now, range);
      return { ...client, ...(otherAgents.length > 0 && { otherAgents }) };
    });
  }

  /** `/api/usage/routes` */
  routes(now: number, range: Range = {}) {
    return groupBy(this.#kept(now, range), (call) =>
      text(this.#keyOf(call), call.lane, call.route, call.status),
    ).map((same) => {
      const [{ lane, route, status } = same[0]!] = same;
      return { client: this.#keyOf(same[0]!), lane, route, status, ...countsOf(same), ...spanOf(same) };
    });
  }

  /** `/api/usage/days` */
  days(now: number, range: Range = {}) {
    return groupBy(this.#kept(now, range), ({ time }) => dayOf(time)).map((same) => {
      const alpha = same.filter(isAlpha);
      return {
        day: dayOf(same[0]?.time ?? 0),
        alpha: alpha.length,
        native: same.length - alpha.length,
        errors: same.filter(isError).length,
        lossy: same.filter(isLossy).length,
        alphaClients: new Set(alpha.map((call) => this.#keyOf(call)).filter(isClientKey)).size,
      };
    });
  }

  /** `/api/usage/sent` */
  sent(now: number, range: Range = {}) {
    return groupBy(this.#kept(now, range), (call) => text(this.#keyOf(call), call.route)).flatMap((same) =>
      [...new Set(same.flatMap(({ names }) => names))].map((name) => {
        const days = same.filter(({ names }) => names.includes(name)).map(({ time }) => dayOf(time));
        const [first] = same;
        return {
          client: first ? this.#keyOf(first) : null,
          route: first?.route,
          name,
          firstDay: days.toSorted()[0],
          lastDay: days.toSorted().at(-1),
          requests: same.length,
        };
      }),
    );
  }

  /** Who would notice if a route were gone, or a name in its requests: `/api/usage/impact`. */
  impact(now: number, route: string, name?: string) {
    const calls = this.#kept(now, {}).filter(
      (call) => call.route === route && isClientKey(this.#keyOf(call)),
    );
    return groupBy(calls, (call) => this.#idOf(call)).flatMap((all) => {
      const daysWithName = new Set(
        all
          .filter(({ names }) => name === undefined || names.includes(name))
          .map((call) => dayOfKey(this.#keyOf(call), call)),
      );
      const own = all.filter((call) => daysWithName.has(dayOfKey(this.#keyOf(call), call)));
      const [first] = own;
      if (!first) return [];
      return [
        { id: this.nameOf(first) ?? this.#keyOf(first), calls: own.length, last: lastOf(own)?.slice(0, 10) },
      ];
    });
  }

  /** What the page of a client shows. @param isOwn Whether a request is one of its own. */
  page(now: number, isOwn: (call: SentCall) => boolean) {
    const own = this.#kept(now, {}).filter(isOwn);
    const alpha = own.filter(isAlpha);
    const dayOrNull = (calls: readonly SentCall[]): string | null => lastOf(calls)?.slice(0, 10) ?? null;
    return {
      state: this.#stateOf(own, now),
      last_call: dayOrNull(alpha),
      last_upstream_call: dayOrNull(own.filter((call) => !isAlpha(call))),
      unmatched: alpha.filter(({ route }) => route === null).length,
      routes: sorted(
        groupBy(
          alpha.filter(({ route }) => route !== null),
          ({ route }) => route ?? "",
        ).map((same) => {
          const { first, last } = spanOf(same);
          const route = same[0]?.route ?? "";
          return { route, ...countsOf(same), first: first.slice(0, 10), last: last.slice(0, 10) };
        }),
        ({ route }) => [route],
      ),
    };
  }

  /** The records of a client that are kept for some days. */
  records(now: number, name: string, days: number): readonly SentCall[] {
    const oldest = dayOf(now - days * DAY_MS);
    return this.#calls.filter((call) => dayOf(call.time) >= oldest && this.nameOf(call) === name);
  }

  /** The states that a client, by its name or key, may have had at a time at which requests were sent. */
  statesAt(client: string, time: number): readonly (MigrationState | null)[] {
    const own = this.#calls.filter((call) => (this.nameOf(call) ?? this.#keyOf(call)) === client);
    return [own.filter((call) => call.time < time), own.filter((call) => call.time <= time)].map((calls) =>
      this.#stateOf(calls, time),
    );
  }

  /** The day on which a client, by its name or key, came back last, as it was known at a time. */
  cameBackAt(client: string, time: number): string | null {
    const own = this.#calls.filter(
      (call) => call.time <= time && (this.nameOf(call) ?? this.#keyOf(call)) === client,
    );
    return this.#returnOf(own);
  }

  /** `/api/usage/losses`, and those of the report. */
  losses(now: number, range: Range = {}) {
    const calls = this.#kept(now, range);
    return [...new Set(calls.flatMap(({ losses }) => losses))].map((loss) => {
      const lost = calls.filter(({ losses }) => losses.includes(loss));
      const clients = groupBy(lost, (call) => this.#idOf(call)).map((own) => {
        const [first] = own;
        const name = first ? this.nameOf(first) : null;
        return { name, client: first ? this.#keyOf(first) : null, ...lossCounts(own) };
      });
      return { loss, routes: routesOf(lost), ...lossCounts(lost), clients };
    });
  }

  /** `/api/usage/tokens`: their counts are those since their first use. */
  tokens(now: number, client: string) {
    const before = now - this.#options.usageRetentionDays * DAY_MS;
    return groupBy(
      this.#calls.filter((call) => call.fingerprint !== null && this.#keyOf(call) === client),
      ({ fingerprint }) => fingerprint ?? "",
    )
      .filter((own) => Math.max(...timesOf(own)) >= before)
      .map((own) => ({
        fingerprint: own[0]?.fingerprint,
        client,
        userAgent: own.at(-1)?.userAgent,
        ...spanOf(own),
        lastAlpha: lastOf(own.filter(isAlpha)),
        lastNative: lastOf(own.filter((call) => !isAlpha(call))),
        requests: own.length,
        native: own.filter((call) => !isAlpha(call)).length,
      }));
  }

  /** The clients of the report, with the keys of one name together. */
  report(now: number, range: Range = {}) {
    const calls = this.#kept(now, range);
    return groupBy(calls, (call) => this.#idOf(call)).map((own) => {
      const clients = groupBy(own, (call) => this.#keyOf(call) ?? "").map((key) => this.#client(key, now));
      const pauses = clients.flatMap(({ longestPauseMs }) => longestPauseMs ?? []);
      const longest = pauses.length === 0 ? null : Math.max(...pauses);
      const alpha = own.filter(isAlpha);
      const { requests, lossy } = countsOf(own);
      const last = own.reduce((latest, call) => (call.time >= latest.time ? call : latest));
      const readiness = this.#stateOf(own, now);
      return {
        name: this.nameOf(last),
        keys: clients.map(({ client }) => client),
        userAgent: last.userAgent,
        ...spanOf(own),
        lastAlpha: lastOf(alpha),
        requests,
        native: own.length - alpha.length,
        errors: own.filter(isError).length,
        lossy,
        readiness,
        cameBack: this.#cameBack(own, readiness, now),
        losses: [...new Set(own.flatMap(({ losses }) => losses))].map((loss) => {
          const lost = own.filter(({ losses }) => losses.includes(loss));
          return { loss, routes: routesOf(lost), ...lossCounts(lost) };
        }),
        longerPauseMs: longest !== null && this.#isLonger(longest) ? longest : null,
        unmatched: alpha.filter(({ route }) => route === null).length,
        calls: sorted(
          groupBy(
            alpha.filter(({ route }) => route !== null),
            ({ route }) => route ?? "",
          ).map((same) => ({
            route: same[0]?.route ?? "",
            ...countsOf(same),
            last: lastOf(same),
            statuses: sorted(
              groupBy(same, ({ status }) => String(status)).map((equal) => ({
                status: equal[0]?.status ?? 0,
                requests: equal.length,
              })),
              ({ status }) => [status],
            ),
          })),
          ({ route }) => [route],
        ),
      };
    });
  }

  /** The name of the client that sent a request; null: it has none. */
  nameOf(call: SentCall): string | null {
    const key = this.#keyOf(call);
    return key === null || key === UNACCEPTED ? null : this.#options.nameOf(call);
  }

  /** The client that a request is counted for in the report. */
  #idOf(call: SentCall): string {
    return this.nameOf(call) ?? `key ${this.#keyOf(call)}`;
  }

  #kept(now: number, { first = "", last = "9999", lane }: Range): SentCall[] {
    const oldest = dayOf(now - this.#options.usageRetentionDays * DAY_MS);
    return this.#calls.filter((call) => {
      const day = dayOf(call.time);
      return day >= oldest && day >= first && day <= last && (lane === undefined || call.lane === lane);
    });
  }

  #keyOf({ fingerprint, application }: SentCall): string | null {
    if (application !== null) return `application:${application}`;
    return fingerprint === null || this.#accepted.has(fingerprint) ? fingerprint : UNACCEPTED;
  }

  /** The last user agents of the other programs of a client, whatever API they called. */
  #otherAgents(
    { client, userAgent }: { client: string | null; userAgent: string },
    now: number,
    range: Range,
  ) {
    const { lane: _lane, ...days } = range;
    const own = this.#kept(now, days).filter((call) => this.#keyOf(call) === client);
    const programs = new Map(own.map((call) => [programOf(call.userAgent), call.userAgent]));
    programs.delete(programOf(userAgent));
    return [...programs.values()].toSorted();
  }

  #isLonger(minutes: number): boolean {
    return minutes > (this.#options.quietDays * DAY_MS) / MINUTE_MS;
  }

  #stateOf(own: readonly SentCall[], now: number): MigrationState | null {
    const [first] = own;
    const key = first ? this.#keyOf(first) : null;
    if (key === null || key === UNACCEPTED) return null;
    const quietSince = now - this.#options.quietDays * DAY_MS;
    const recent = own.filter(({ time }) => time >= quietSince);
    if (recent.some(isAlpha)) return own.every(isAlpha) ? "not begun" : "moving";
    if (recent.length === 0) return "silent";
    const pauses = groupBy(own, (call) => this.#keyOf(call) ?? "").map((ofKey) => longestPause(ofKey) ?? 0);
    const last = Math.max(...own.filter(isAlpha).map(({ time }) => time));
    return now - last <= Math.max(...pauses) * MINUTE_MS ? "moving" : "ready";
  }

  /** The last day on which a client called alpha again after days with v4 alone, more than the quiet ones and any before. */
  #cameBack([first]: readonly SentCall[], state: MigrationState | null, now: number): string | null {
    if (!first || state === null || state === "ready") return null;
    // Whatever the period of the figures is.
    return this.#returnOf(this.#kept(now, {}).filter((call) => this.#idOf(call) === this.#idOf(first)));
  }

  #returnOf(own: readonly SentCall[]): string | null {
    const daysOf = (calls: readonly SentCall[]): string[] =>
      [...new Set(calls.map(({ time }) => dayOf(time)))].toSorted();
    const native = daysOf(own.filter((call) => !isAlpha(call)));
    const alpha = daysOf(own.filter(isAlpha));
    let longest = this.#options.quietDays;
    const returns = alpha.filter((day, index) => {
      const before = alpha[index - 1];
      if (before === undefined) return false;
      const pause = (Date.parse(day) - Date.parse(before)) / DAY_MS;
      const isLonger = pause > longest;
      longest = Math.max(longest, pause);
      return isLonger && native.some((other) => other > before && other < day);
    });
    return returns.at(-1) ?? null;
  }

  #client(own: readonly SentCall[], now: number) {
    const last = own.reduce((latest, call) => (call.time >= latest.time ? call : latest));
    const client = this.#keyOf(last);
    const alpha = own.filter(isAlpha);
    const longestPauseMs = longestPause(own);
    const state = this.#stateOf(own, now);
    return {
      client,
      label: null,
      application: last.application,
      fingerprint: last.application !== null || client === UNACCEPTED ? null : last.fingerprint,
      userAgent: last.userAgent,
      ...countsOf(own),
      errors: own.filter(isError).length,
      native: own.length - alpha.length,
      tokens: client === null || client === UNACCEPTED ? 0 : this.tokens(now, client).length,
      ...spanOf(own),
      lastAlpha: lastOf(alpha),
      lastNative: lastOf(own.filter((call) => !isAlpha(call))),
      longestPauseMs,
      name: this.nameOf(last),
      state,
      cameBack: this.#cameBack(own, state, now),
      isPauseLonger: longestPauseMs !== null && this.#isLonger(longestPauseMs),
    };
  }
}

const dayOfKey = (key: string | null, { time }: SentCall): string => text(key, dayOf(time));

const routesOf = (calls: readonly SentCall[]): readonly string[] =>
  [...new Set(calls.map(({ route }) => route ?? ""))].toSorted();

const lossCounts = (calls: readonly SentCall[]) => {
  const days = calls.map(({ time }) => dayOf(time)).toSorted();
  return { requests: calls.length, firstDay: days[0], lastDay: days.at(-1) };
};

const countsOf = (calls: readonly SentCall[]) => ({
  requests: calls.length,
  lossy: calls.filter(isLossy).length,
});
