/** Observes the old service: whether it is healthy enough to return to, and how often it fails. */
import { countedAs, ProvenClients } from "../../../gateway/index.ts";
import { meanOfClients } from "./evidence.ts";

/** Milliseconds after which a call without a response is treated as failed. */
const HANGING_MS = 2000;
const WINDOW_SECONDS = 30;
/** Share of failures from which the service is treated as unhealthy. */
const UNWELL = 0.1;
/** Maximum number of clients of one second and route. Further clients contain no new information. */
const MAX_SENDERS = 200;

/** Number of responses to a client after which the weight of older ones is halved. */
const MAX_ANSWERS = 1000;
/** Minimum number of responses to a client for a rate. */
const MIN_ANSWERS = 20;
/** Maximum number of clients of a route whose rates are stored. */
const MAX_CLIENTS = 50;
/** Milliseconds without a response after which a client makes room for others. */
const ABSENT_MS = 86_400_000;
/** Maximum number of routes, more than a pack has. */
const MAX_ROUTES = 2000;

/** A call without a response. */
interface Call {
  readonly route: string | null;
  readonly sentAt: number;
  readonly client: () => string | undefined;
}

/** A call of a client that is overdue. Lists are sorted by time, the oldest first. */
type HangingCall = Omit<Call, "client"> & { readonly client: string };

interface Answers {
  total: number;
  failed: number;
  /** The time of the last response that was not a failure. */
  succeededAt: number;
}

const noAnswers = (): Answers => ({ total: 0, failed: 0, succeededAt: -Infinity });

const addTo = (answers: Answers, now: number, hasFailed: boolean): void => {
  answers.total += 1;
  if (hasFailed) answers.failed += 1;
  else answers.succeededAt = now;
};

/** A value for each client. Senders that are treated as one client share it. */
class ByClient<Value> extends Map<string, Value> {
  readonly #clients = new ProvenClients();

  override get(client: string): Value | undefined {
    return super.get(this.#clients.find(client) ?? client);
  }

  override set(client: string, value: Value): this {
    const counted = this.#clients.find(client);
    if (counted === undefined) this.#clients.add(client);
    return super.set(counted ?? client, value);
  }
}

/** The responses of the last 30 s, by second and client. */
class RecentAnswers {
  readonly #seconds = new Map<number, ByClient<Answers>>();

  note(now: number, client: string, hasFailed: boolean): void {
    const second = Math.floor(now / 1000);
    this.#forgetBefore(second);
    const clients = this.#seconds.get(second) ?? new ByClient<Answers>();
    this.#seconds.set(second, clients);
    const answers = clients.get(client) ?? noAnswers();
    if (clients.size < MAX_SENDERS) clients.set(client, answers);
    addTo(answers, now, hasFailed);
  }

  /**
   * Whether the service is healthy according to these responses; undefined if missing, or if only one client
   * sees failures.
   */
  isWell(now: number, hanging: readonly HangingCall[]): boolean | undefined {
    const byClient = this.#sum(now);
    if (this.countWaiting(now, hanging) > 1) return false;
    for (const { client, sentAt } of hanging) {
      const { total, failed, succeededAt } = byClient.get(client) ?? noAnswers();
      // Earlier responses are irrelevant for a client that the service no longer responds to.
      const counted =
        sentAt >= succeededAt ? { total: 1, failed: 1 } : { total: total + 1, failed: failed + 1 };
      byClient.set(client, { ...counted, succeededAt });
    }
    const rates = [...byClient.values()].map(({ total, failed }) => failed / total);
    const sum = rates.reduce((all, rate) => all + rate, 0);
    if (rates.length < 2) return rates.length === 1 && sum < UNWELL ? true : undefined;
    return sum - Math.max(...rates) < UNWELL * (rates.length - 1);
  }

  /** Counts the waiting clients for which no response has arrived since their oldest call. */
  countWaiting(now: number, hanging: readonly HangingCall[]): number {
    const succeededAt = Math.max(...[...this.#sum(now).values()].map((each) => each.succeededAt));
    const oldest = new ByClient<number>();
    for (const { client, sentAt } of hanging.toReversed()) oldest.set(client, sentAt);
    return [...oldest.values()].filter((sentAt) => sentAt >= succeededAt).length;
  }

  #sum(now: number): ByClient<Answers> {
    this.#forgetBefore(Math.floor(now / 1000));
    const byClient = new ByClient<Answers>();
    for (const clients of this.#seconds.values())
      for (const [client, { total, failed, succeededAt }] of clients.entries()) {
        const sum = byClient.get(client) ?? noAnswers();
        byClient.set(client, {
          total: sum.total + total,
          failed: sum.failed + failed,
          succeededAt: Math.max(sum.succeededAt, succeededAt),
        });
      }
    return byClient;
  }

  #forgetBefore(second: number): void {
    for (const each of this.#seconds.keys()) {
      if (each > second - WINDOW_SECONDS) return;
      this.#seconds.delete(each);
    }
  }
}

/** The rate of failures, by client. */
class FailureRates {
  /** The client with the latest response is at the end. */
  readonly #clients = new Map<string, Answers & { notedAt: number }>();

  note(now: number, by: string, hasFailed: boolean): void {
    const client = countedAs([...this.#clients.keys()], by);
    const answers = this.#clients.get(client) ?? { ...noAnswers(), notedAt: now };
    this.#clients.delete(client);
    const [first] = this.#clients;
    if (first && now - first[1].notedAt > ABSENT_MS) this.#clients.delete(first[0]);
    if (this.#clients.size >= MAX_CLIENTS) return;
    if (answers.total >= MAX_ANSWERS) {
      answers.total /= 2;
      answers.failed /= 2;
    }
    addTo(answers, now, hasFailed);
    answers.notedAt = now;
    this.#clients.set(client, answers);
  }

  /** Returns the rate for a client; undefined if there is too little data. */
  rateFor(client: string): number | undefined {
    const known = [...this.#clients].filter(([, { total }]) => total >= MIN_ANSWERS);
    const [only] = known;
    if (!only) return undefined;
    if (known.length === 1 && only[0] !== countedAs([only[0]], client)) return 0;
    return meanOfClients(known.map(([, { total, failed }]) => failed / total));
  }
}

/** The responses of one route, or of all routes. */
const createAnswers = () => ({ recent: new RecentAnswers(), rates: new FailureRates() });

/** Observes the old service in this process. @param clock a monotonic clock in milliseconds */
export function watchOldService(clock: () => number = () => performance.now()) {
  const all = createAnswers();
  const byRoute = new Map<string, typeof all>();
  const unanswered = new Set<Call>();

  function answersOf(route: string): typeof all {
    const found = byRoute.get(route);
    const answers = found ?? createAnswers();
    if (!found && byRoute.size < MAX_ROUTES) byRoute.set(route, answers);
    return answers;
  }

  function hangingCalls(): readonly HangingCall[] {
    const before = clock() - HANGING_MS;
    return [...unanswered].flatMap(({ route, sentAt, client: findClient }) => {
      const client = sentAt <= before ? findClient() : undefined;
      return client === undefined ? [] : [{ route, sentAt, client }];
    });
  }

  return {
    /**
     * Records a response of the old service, or its absence.
     *
     * @param route Name of the route. Null if no route of the pack matches @param client The proven sender: see
     *   `provenBy`
     */
    note(route: string | null, hasFailed: boolean, client: string): void {
      for (const { recent, rates } of route === null ? [all] : [all, answersOf(route)]) {
        recent.note(clock(), client, hasFailed);
        rates.note(clock(), client, hasFailed);
      }
    },
    /**
     * Records a call. After two seconds without a response, it is treated as failed until the response arrives.
     *
     * @param client Returns the waiting client, if it is known by then. Undefined for an unknown sender, and for a
     *   client that is still sending
     * @returns a function to call when the response starts, or the call has ended
     */
    begin(route: string | null, client: () => string | undefined): () => void {
      const call = { route, sentAt: clock(), client };
      unanswered.add(call);
      return () => void unanswered.delete(call);
    },
    /**
     * Whether the old service is healthy on a route: it responded within the last 30 s, less than a tenth of its
     * responses were failures, and no client has waited since before its last response on any route. Each client has
     * the same weight, and the one with the most failures is ignored if there are others. If there are no calls on the
     * route, or only one client sees failures, all routes are considered.
     */
    isWell(route: string): boolean {
      const now = clock();
      const hanging = hangingCalls();
      if (all.recent.countWaiting(now, hanging) > 0) return false;
      const here = hanging.filter((call) => call.route === route);
      return answersOf(route).recent.isWell(now, here) ?? all.recent.isWell(now, hanging) ?? false;
    },
    /**
     * Returns the share of failures in the service's responses on a route: the mean over its clients, as in {@link
     * meanOfClients}. If there is too little data for the route, all routes are used; 0 if missing. A rate that
     * only one client has seen is only used for this client.
     */
    failureRate: (route: string, client: string): number =>
      byRoute.get(route)?.rates.rateFor(client) ?? all.rates.rateFor(client) ?? 0,
  };
}
