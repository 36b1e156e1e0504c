import { Shares } from "../../base/index.ts";
import type { ShareClient } from "./share-usage.ts";

/** Attempts of this many seconds are recent. */
const WINDOW_SECONDS = 10;

/** v4 fails if more than this part of the recent attempts failed. */
const MOST_FAILURES = 1 / 2;

/** The largest network of a client. */
export const networkOf = ({ networks }: ShareClient): string => networks.at(-1) ?? "";

/** The names of a client: the hash of its token, where it has one, and its network. */
export const namesOf = (client: ShareClient): readonly string[] =>
  client.token === undefined ? [networkOf(client)] : [client.token, networkOf(client)];

/** Attempts by client. Undefined: failures that no client can cause. */
type Counts = Shares<string | undefined>;

/** Attempts of one second. Clients are counted by their tokens; without one, by their networks. */
interface Bucket {
  readonly second: number;
  readonly succeeded: Counts;
  readonly failed: Counts;
  readonly failedByNetwork: Counts;
}

/**
 * The smallest group of clients that has most of the failures, with all that have as many as its last one. Undefined
 * if more clients than the given number share most of the failures.
 */
function findFew(failed: Counts, most: number): readonly string[] | undefined {
  const few: string[] = [];
  let sum = 0;
  let least = Infinity;
  const worst = failed.largest(most + 1).filter(([who]) => who !== undefined);
  for (const [who = "", count] of worst.slice(0, most)) {
    if (sum > failed.all / 2 && count < least) break;
    few.push(who);
    sum += count;
    least = count;
  }
  return sum > failed.all / 2 ? few : undefined;
}

/** Why v4 fails. */
interface Cause {
  /** The few networks, or the few clients, that have most of the failures. */
  readonly blamed: readonly string[];
  /** The tokens and networks whose attempts fail. */
  readonly openFor: readonly string[];
}

/** The attempts of the last seconds, and whose they were. */
export class RecentAttempts {
  #buckets: Bucket[] = [];
  readonly #minAttempts: number;
  readonly #clock: () => number;

  /** @param minAttempts with fewer nobody knows whether v4 fails. @param clock in milliseconds */
  constructor(minAttempts: number, clock: () => number) {
    this.#minAttempts = minAttempts;
    this.#clock = clock;
  }

  addSuccess(client: ShareClient | undefined): void {
    this.#current().succeeded.take(client && namesOf(client)[0]);
  }

  addFailure(client: ShareClient | undefined): void {
    const { failed, failedByNetwork } = this.#current();
    failed.take(client && namesOf(client)[0]);
    failedByNetwork.take(client && networkOf(client));
  }

  clear(): void {
    this.#buckets = [];
  }

  /** Whether v4 fails. */
  haveFailed(): boolean {
    const failures = this.#buckets.reduce((sum, { failed }) => sum + failed.all, 0);
    const all = this.#buckets.reduce((sum, { succeeded }) => sum + succeeded.all, failures);
    return all >= this.#minAttempts && failures > MOST_FAILURES * all;
  }

  /**
   * Finds the cause of v4's failures. Undefined if many networks and clients share most of the failures. With few
   * clients, only they are blamed. In a few networks with many clients, the cause may be one customer, or v4 may be
   * down for everybody behind one proxy. While others succeed, only clients with failures are blamed. If nobody
   * succeeds, the whole networks are.
   */
  findCause(most: number): Cause | undefined {
    const failed = this.#sum("failed");
    const networks = findFew(this.#sum("failedByNetwork"), most);
    const clients = findFew(failed, most);
    if (clients) return { blamed: networks ?? clients, openFor: clients };
    if (!networks) return undefined;
    const succeeded = this.#sum("succeeded");
    const doOthersSucceed = succeeded.entries().some(([who, count]) => count > failed.of(who));
    const failing = failed
      .entries()
      .flatMap(([who, count]) => (who !== undefined && count > succeeded.of(who) ? [who] : []));
    return { blamed: networks, openFor: doOthersSucceed ? failing : networks };
  }

  #sum(kind: "succeeded" | "failed" | "failedByNetwork"): Counts {
    const all: Counts = new Shares();
    for (const bucket of this.#buckets)
      for (const [who, count] of bucket[kind].entries()) all.take(who, count);
    return all;
  }

  #current(): Bucket {
    const second = Math.floor(this.#clock() / 1000);
    const last = this.#buckets.at(-1);
    if (last?.second === second) return last;
    const bucket: Bucket = {
      second,
      succeeded: new Shares(),
      failed: new Shares(),
      failedByNetwork: new Shares(),
    };
    this.#buckets = [...this.#buckets.filter((one) => one.second > second - WINDOW_SECONDS), bucket];
    return bucket;
  }
}
