/** How the old service does: whether it is well enough to return to, and how often it fails anyway. */
import { countedAs, ProvenClients } from "../../../gateway/index.ts";
import { meanOfClients } from "./evidence.ts";

/** A call without an answer counts as failed from now on. */
const HANGING_MS = 2000;
const WINDOW_SECONDS = 30;
/** Failures of this share and above: it is not well. */
const UNWELL = 0.1;
/** Clients of one second and route. More say nothing new. */
const MAX_SENDERS = 200;

/** Answers to a client after which older ones count half. */
const MAX_ANSWERS = 1000;
/** Fewer answers to a client say nothing about a rate. */
const MIN_ANSWERS = 20;
/** Clients of a route whose rates are remembered. */
const MAX_CLIENTS = 50;
/** A client that was not answered for so long makes room for others. */
const ABSENT_MS = 86_400_000;
/** More routes than a pack has. */
const MAX_ROUTES = 2000;

/** A call that has no answer. */
interface Call {
  readonly route: string | null;
  readonly sentAt: number;
  readonly client: () => string | undefined;
}

/** A call of a client that should have been answered. In lists the oldest one is first. */
interface HangingCall {
  readonly route: string | null;
  readonly sentAt: number;
  readonly client: string;
}

interface Answers {
  total: number;
  failed: number;
  /** When the last one came that was no failure. */
  succeededAt: number;
}

const noAnswers = (): Answers => ({ total: 0, failed: 0, succeededAt: -Infinity });

const addTo = (answers: Answers, now: number, hasFailed: boolean): void => {
  answers.total += 1;
  if (hasFailed) answers.failed += 1;
  else answers.succeededAt = now;
};

/** A value for each client. Senders that count as one client share it. */
class ByClient<Value> {
  readonly #clients = new ProvenClients();
  readonly #values = new Map<string, Value>();

  get size(): number {
    return this.#values.size;
  }

  get(client: string): Value | undefined {
    const counted = this.#clients.find(client);
    return counted === undefined ? undefined : this.#values.get(counted);
  }

  set(client: string, value: Value): void {
    const counted = this.#clients.find(client);
    if (counted === undefined) this.#clients.add(client);
    this.#values.set(counted ?? client, value);
  }

  entries(): readonly [string, Value][] {
    return [...this.#values];
  }

  values(): readonly Value[] {
    return [...this.#values.values()];
  }
}

/** The answers of the last 30 s, by second and client. */
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

  /** Whether it is well by these answers; undefined without any, or where only one client says that it is not. */
  isWell(now: number, hanging: readonly HangingCall[]): boolean | undefined {
    const byClient = this.#sum(now);
    if (this.countWaiting(now, hanging) > 1) return false;
    for (const { client, sentAt } of hanging) {
      const { total, failed, succeededAt } = byClient.get(client) ?? noAnswers();
      // Earlier answers say nothing about a service that no longer answers this client.
      const counted =
        sentAt >= succeededAt ? { total: 1, failed: 1 } : { total: total + 1, failed: failed + 1 };
      byClient.set(client, { ...counted, succeededAt });
    }
    const rates = byClient.values().map(({ total, failed }) => failed / total);
    const sum = rates.reduce((all, rate) => all + rate, 0);
    if (rates.length < 2) return rates.length === 1 && sum < UNWELL ? true : undefined;
    return sum - Math.max(...rates) < UNWELL * (rates.length - 1);
  }

  /** Counts the clients that wait, and since whose oldest call nobody was answered. */
  countWaiting(now: number, hanging: readonly HangingCall[]): number {
    const succeededAt = Math.max(
      ...this.#sum(now)
        .values()
        .map((each) => each.succeededAt),
    );
    const oldest = new ByClient<number>();
    for (const { client, sentAt } of hanging.toReversed()) oldest.set(client, sentAt);
    return oldest.values().filter((sentAt) => sentAt >= succeededAt).length;
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

/** How often it fails, by client. */
class FailureRates {
  /** The client that was answered last is at the end. */
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

  /** The rate for a client; undefined if too little is known. */
  rateFor(client: string): number | undefined {
    const known = [...this.#clients].filter(([, { total }]) => total >= MIN_ANSWERS);
    const [only] = known;
    if (!only) return undefined;
    if (known.length === 1 && only[0] !== countedAs([only[0]], client)) return 0;
    return meanOfClients(known.map(([, { total, failed }]) => failed / total));
  }
}

/** The answers of one route, or of all. */
class RouteAnswers {
  readonly recent = new RecentAnswers();
  readonly rates = new FailureRates();

  note(now: number, client: string, hasFailed: boolean): void {
    this.recent.note(now, client, hasFailed);
    this.rates.note(now, client, hasFailed);
  }
}

/** The known facts about the old service: this process's own experience. @param clock Milliseconds, monotonic. */
export function watchOldService(clock: () => number = () => performance.now()) {
  const all = new RouteAnswers();
  const byRoute = new Map<string, RouteAnswers>();
  const unanswered = new Set<Call>();

  function answersOf(route: string): RouteAnswers {
    const found = byRoute.get(route);
    const answers = found ?? new RouteAnswers();
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
     * @param route Name of the route. Null without a route of the pack @param client The proven sender: see
     * `provenBy`
     */
    note(route: string | null, hasFailed: boolean, client: string): void {
      all.note(clock(), client, hasFailed);
      if (route !== null) answersOf(route).note(clock(), client, hasFailed);
    },
    /**
     * Records a call. After two seconds without a response it counts as failed, until it gets one.
     *
     * @param client The waiting client, if it is known by then. Undefined for a stranger, and for a client that is
     * still sending
     * @returns a function to call when the response begins, or the call has ended
     */
    begin(route: string | null, client: () => string | undefined): () => void {
      const call = { route, sentAt: clock(), client };
      unanswered.add(call);
      return () => void unanswered.delete(call);
    },
    /**
     * Whether the old service works on a route: it responded within the last 30 s, less than a tenth of its responses
     * were failures, and no client has waited since before its last response on any route. Each client counts once,
     * and the one with the most failures is ignored if there are others. Without calls on the route, or with only one
     * client that sees failures, all routes count.
     */
    isWell(route: string): boolean {
      const now = clock();
      const hanging = hangingCalls();
      if (all.recent.countWaiting(now, hanging) > 0) return false;
      const here = hanging.filter((call) => call.route === route);
      return answersOf(route).recent.isWell(now, here) ?? all.recent.isWell(now, hanging) ?? false;
    },
    /**
     * The share of its answers on a route that are failures: the mean over its clients, as {@link meanOfClients} says; of all
     * routes where too little is known of one; 0 if nobody knows. A rate that only one client has seen is for this client alone.
     */
    failureRate: (route: string, client: string): number =>
      byRoute.get(route)?.rates.rateFor(client) ?? all.rates.rateFor(client) ?? 0,
  };
}
