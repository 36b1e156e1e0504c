/**
 * Compares the old service and the translation on live requests: one of them answers the client, the other is asked the same.
 * No client waits for a comparison.
 */
import { createHash } from "node:crypto";
import { setImmediate as idle, setTimeout as wait } from "node:timers/promises";
import type { NotComparableReason, ReportComparison } from "../parity/comparison.ts";
import type { AlphaRequest } from "../pipeline/context.ts";
import type { Asked } from "./ask-old-service.ts";
import type { Budget } from "./budget.ts";
import type { ComparedRequest, Finding, Judge, Pair } from "./judge.ts";
import type { WriteFence } from "./write-fence.ts";

/** The service that answers a client. */
export type Side = "old" | "new";

/** A request that may be compared. */
export interface ServedRequest extends ComparedRequest {
  /** Who sent it: a name of the directory, an application, or a fingerprint; null without a token. */
  readonly client: string | null;
  readonly side: Side;
  /** Whether all reads of this client are compared, not a share of them: it was turned a moment ago. */
  readonly isFresh: boolean;
  /** Why this request can't be compared, where that is known already. */
  readonly obstacle: NotComparableReason | undefined;
}

export interface ShadowOptions {
  /** The share of reads that is compared, 0 to 1; undefined: nothing is compared. */
  readonly share: () => number | undefined;
  readonly judge: Judge;
  readonly budget: Budget;
  readonly fence: WriteFence;
  /** The translation's answer. Never rejects. */
  readonly translate: (request: AlphaRequest) => Promise<Asked>;
  /** The old service's answer. Never rejects. */
  readonly askOld: (request: AlphaRequest) => Promise<Asked>;
  readonly report: ReportComparison;
  /** Is told of an error that no one expected. */
  readonly onError: (error: unknown, requestId: string) => void;
  /** Milliseconds until both services are asked once more. Default: 1 to 5 seconds. */
  readonly confirmAfterMs?: () => number;
}

/** A comparison that has begun. */
export interface BegunComparison {
  /** Takes the answer that the client gets, once. */
  served(answer: Asked): void;
}

/** Part of the comparisons in which the old service is asked twice, so that what is unstable has a rate (rule 3). */
const SELF_COMPARED = 0.01;

/** Longest time of a response to a client until its comparison is given up. */
const MAX_SERVED_MS = 60_000;

const READS = new Set(["GET", "HEAD"]);

/** A number from 0 to 1 that only depends on a text. */
const shareOf = (text: string): number =>
  createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;

/** Runs comparisons beside the requests of clients. */
export class ShadowRunner {
  readonly #options: ShadowOptions;
  readonly #closing = new AbortController();

  constructor(options: ShadowOptions) {
    this.#options = options;
  }

  /**
   * Begins to compare a request that is being served: the other side is asked at the same moment.
   *
   * @returns undefined if it is not compared
   */
  begin(served: ServedRequest): BegunComparison | undefined {
    const { share, budget, fence } = this.#options;
    const part = share();
    const { request, isFresh, obstacle, client } = served;
    if (part === undefined || this.#closing.signal.aborted || !READS.has(request.method)) return undefined;
    if (!isFresh && shareOf(request.id) >= part) return undefined;
    if (obstacle !== undefined) return this.#leaveOut(served, obstacle);
    const isStillValid = fence.enter(client ?? "");
    if (!isStillValid) return this.#leaveOut(served, "write");
    if (!budget.begin()) return this.#leaveOut(served, "budget");
    if (!budget.takeCall(client ?? "")) {
      budget.end(0);
      return this.#leaveOut(served, "budget");
    }
    const { promise, resolve } = Promise.withResolvers<Asked>();
    const timer = setTimeout(() => resolve("timeout"), MAX_SERVED_MS).unref();
    const other = served.side === "old" ? this.#options.translate(request) : this.#options.askOld(request);
    void this.#run(served, promise, other, isStillValid);
    return {
      served(answer) {
        clearTimeout(timer);
        resolve(answer);
      },
    };
  }

  /** Ends all comparisons. */
  close(): void {
    this.#closing.abort();
  }

  async #run(
    served: ServedRequest,
    answer: Promise<Asked>,
    other: Promise<Asked>,
    isStillValid: () => boolean,
  ): Promise<void> {
    const held = { bytes: 0 };
    const { request } = served;
    try {
      const [mine, theirs] = await Promise.all([answer, other]);
      await idle(undefined, { ref: false });
      const pair = this.#pairOf(served, mine, theirs, held);
      if (typeof pair === "string") return this.#end(served, pair);
      if (!isStillValid()) return this.#end(served, "write");
      await this.#compare(served, pair, held);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#options.onError(error, request.id);
      this.#end(served, "unreadable");
    } finally {
      this.#options.budget.end(held.bytes);
    }
  }

  /** Both answers, in memory that is counted; or why there are not two. */
  #pairOf(
    { side, request }: ServedRequest,
    mine: Asked,
    theirs: Asked,
    held: { bytes: number },
  ): Pair | NotComparableReason {
    if (typeof mine === "string") return mine;
    if (typeof theirs === "string") return theirs;
    const bytes = mine.body.length + theirs.body.length;
    if (!this.#options.budget.hold(bytes)) return "budget";
    held.bytes += bytes;
    const [old, next] = side === "old" ? [mine, theirs] : [theirs, mine];
    // Whether there is a body is the HTTP server's affair.
    if (request.method !== "HEAD") return { old, new: next };
    const body = Buffer.alloc(0);
    return { old: { ...old, body }, new: { ...next, body } };
  }

  async #compare(served: ServedRequest, first: Pair, held: { bytes: number }): Promise<void> {
    const { judge } = this.#options;
    const finding = judge.compare(served, first);
    if (Math.random() < SELF_COMPARED) await this.#compareWithItself(served, first, held);
    if (finding !== "unconfirmed") return this.#report(served, finding, first);
    await this.#pause();
    const second = await this.#askAgain(served, held);
    if (typeof second === "string") return this.#end(served, second);
    this.#report(served, judge.confirm(served, first, second), first);
  }

  /** Asks the old service once more, so that its own noise is known. */
  async #compareWithItself(served: ServedRequest, { old }: Pair, held: { bytes: number }): Promise<void> {
    const { budget, askOld, judge } = this.#options;
    if (!budget.takeCall(served.client ?? "")) return;
    const again = await askOld(served.request);
    if (typeof again === "string" || !budget.hold(again.body.length)) return;
    held.bytes += again.body.length;
    judge.learn(served, old, again);
  }

  /** Asks both services once more, at the same time. */
  async #askAgain(served: ServedRequest, held: { bytes: number }): Promise<Pair | NotComparableReason> {
    const { budget, fence, askOld, translate } = this.#options;
    const client = served.client ?? "";
    const isStillValid = fence.enter(client);
    if (!isStillValid) return "write";
    if (!budget.takeCall(client) || !budget.takeCall(client)) return "budget";
    const [old, next] = await Promise.all([askOld(served.request), translate(served.request)]);
    const pair = this.#pairOf({ ...served, side: "old" }, old, next, held);
    return typeof pair === "string" || isStillValid() ? pair : "write";
  }

  async #pause(): Promise<void> {
    const { confirmAfterMs = () => 1000 + Math.random() * 4000 } = this.#options;
    await wait(confirmAfterMs(), undefined, { ref: false, signal: this.#closing.signal });
  }

  #leaveOut(served: ServedRequest, reason: NotComparableReason): undefined {
    this.#end(served, reason);
    return undefined;
  }

  #end(served: ServedRequest, reason: NotComparableReason): void {
    this.#report(served, { result: "not_comparable", reason, key: undefined, differences: [] });
  }

  #report({ request, route, client, filter }: ServedRequest, finding: Finding, pair?: Pair): void {
    const { method, path, query, id: requestId } = request;
    this.#options.report({
      ...finding,
      source: "legacy",
      route: route.name,
      client,
      time: Date.now(),
      requestId,
      ...(pair &&
        finding.differences.length > 0 && {
          sample: { method, path: query === "" ? path : `${path}?${query}`, filter, ...pair },
        }),
    });
  }
}
