/**
 * Compares the old service and the translation for live requests: one of them responds to the client, and the same
 * request is sent to the other. No client waits for a comparison.
 */
import { setImmediate as idle, setTimeout as wait } from "node:timers/promises";
import { usualTokenTexts } from "../../pack/index.ts";
import type { Budget } from "../answers/budget.ts";
import type {
  Answer,
  AnswerPair,
  Asked,
  Compared,
  NotComparableReason,
  SecondAnswer,
} from "../answers/comparison.ts";
import { READ_METHODS, type Side } from "../../gateway/index.ts";
import { type Finding, type Judge, type JudgedRequest, notComparable } from "../answers/judge.ts";
import { bodyOverridesMethod, type ServedRequest, type SideQuestion, targetOf } from "./served-request.ts";
import type { Reading, WriteFence } from "./write-fence.ts";

export interface ShadowOptions {
  /** Returns the share of reads that is compared, 0 to 1; undefined: nothing is compared. */
  readonly share: () => number | undefined;
  readonly judge: Judge;
  /** Returns the subject of the comparison: see `Compared` in `src/compare/answers/comparison.ts`. */
  readonly subject: () => string;
  readonly budget: Budget;
  readonly fence: WriteFence;
  /** The old service, and the translation. */
  readonly answers: Readonly<Record<Side, SecondAnswer<SideQuestion>>>;
  /** Receives the result. */
  readonly report: (compared: Compared) => void;
  /** Called with unexpected errors. */
  readonly onError: (error: unknown, requestId: string) => void;
  /** Aborts all comparisons. */
  readonly closing: AbortSignal;
  /** Returns the milliseconds until both services are called again. Default: 1 to 5 seconds. */
  readonly confirmAfterMs?: () => number;
}

/** A comparison that was started. */
interface BegunComparison {
  /** Receives the client's response, once. @param body the body of the request, if it has one */
  served(answer: Asked, body?: Buffer): void;
}

/** Maximum time of a response to a client in milliseconds. After that, its comparison is abandoned. */
const MAX_SERVED_MS = 60_000;

/** The response that the client received. */
interface Served {
  readonly answer: Asked;
  /** The request's body; undefined for a GET. */
  readonly body: Buffer | undefined;
}

/** Runs comparisons concurrently with the requests of clients. */
export class ShadowRunner {
  readonly #options: ShadowOptions;

  constructor(options: ShadowOptions) {
    this.#options = options;
  }

  /**
   * Starts to compare a request that is being served. The other side is called at the same time, or after the body of a
   * POST that only reads is known.
   *
   * @returns undefined if it is not compared
   */
  begin(served: ServedRequest): BegunComparison | undefined {
    const share = this.#options.share();
    if (share === undefined || this.#options.closing.aborted || !served.route.isSafe) return undefined;
    // The id of the request is not used, because its client chooses it.
    if (!served.isFresh && Math.random() >= share) return undefined;
    const obstacle = this.#findObstacle(served);
    const comparison = new Comparison(served, this.#options);
    if (obstacle !== undefined) {
      comparison.end(obstacle);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<Served>();
    const timer = setTimeout(() => resolve({ answer: "timeout", body: undefined }), MAX_SERVED_MS).unref();
    comparison.enter();
    const other = READ_METHODS.has(served.request.method) ? comparison.askOther() : undefined;
    void comparison.run(promise, other);
    return {
      served(answer, body) {
        clearTimeout(timer);
        resolve({ answer, body });
      },
    };
  }

  /** Returns why a request can't be compared. If it can, its place and a call of the budget are reserved. */
  #findObstacle({ obstacle, writers, payer }: ServedRequest): NotComparableReason | undefined {
    const { budget, fence } = this.#options;
    if (obstacle !== undefined) return obstacle;
    if (!fence.isQuiet(writers)) return "write";
    if (!budget.begin(payer)) return "budget";
    if (budget.takeCall(payer)) return undefined;
    budget.end(payer, 0);
    return "budget";
  }
}

/** Returns both responses, or the reason why one is missing. */
function toPair(old: Asked, next: Asked): AnswerPair | NotComparableReason {
  if (typeof old === "string") return old;
  return typeof next === "string" ? next : { old, new: next };
}

/** One comparison in progress. */
class Comparison {
  readonly #served: ServedRequest;
  readonly #options: ShadowOptions;
  /** The read; undefined during a write of the client, in which case nothing is compared. */
  #reading: Reading | undefined;
  #body: Buffer | undefined;
  #bytes = 0;

  constructor(served: ServedRequest, options: ShadowOptions) {
    this.#served = served;
    this.#options = options;
  }

  /** From now on, writes of the client invalidate the comparison. */
  enter(): void {
    this.#reading = this.#options.fence.enter(this.#served.writers);
  }

  /** Calls the side that does not serve the client. */
  async askOther(): Promise<Asked> {
    return this.#hold(await this.#ask(this.#served.side === "old" ? "new" : "old"));
  }

  async run(first: Promise<Served>, other: Promise<Asked> | undefined): Promise<void> {
    const { request, side, payer } = this.#served;
    try {
      const { answer, body } = await first;
      this.#body = body;
      const ours = (body && this.#obstacleOf(body)) ?? this.#hold(answer);
      if (typeof ours === "string") {
        this.end(ours);
        // The comparison keeps its place until the other side has responded.
        return void (await other);
      }
      // Without its body, a POST would not be the same request.
      const theirs = await (other ?? (body ? this.askOther() : "unreadable"));
      await idle(undefined, { ref: false });
      await this.#compare(side === "old" ? toPair(ours, theirs) : toPair(theirs, ours));
    } catch (error) {
      if (this.#options.closing.aborted) return;
      this.#options.onError(error, request.id);
      this.end("unreadable");
    } finally {
      this.#options.budget.end(payer, this.#bytes);
      this.#reading?.leave();
    }
  }

  #ask(side: Side): Promise<Asked> {
    return this.#options.answers[side].ask({ served: this.#served, body: this.#body });
  }

  /**
   * Returns a response, or the reason why there is none. Its memory is counted from now on, because the other response
   * may arrive much later.
   */
  #hold(asked: Asked): Asked {
    if (typeof asked === "string") return asked;
    // Whether the response to a HEAD contains a body depends on the HTTP server.
    if (this.#served.request.method === "HEAD") return { ...asked, body: Buffer.alloc(0) };
    return this.#takeMemory(asked.body.length) ? asked : "budget";
  }

  /** Returns why a request can't be sent to the other side, after its body is known. */
  #obstacleOf(body: Buffer): NotComparableReason | undefined {
    if (bodyOverridesMethod(body)) return "write";
    return this.#takeMemory(body.length) ? undefined : "budget";
  }

  #takeMemory(bytes: number): boolean {
    if (!this.#options.budget.hold(this.#served.payer, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Whether the client has not written since the first pair was requested. */
  #isStillValid(): boolean {
    return this.#reading?.isValid() === true;
  }

  async #compare(first: AnswerPair | NotComparableReason): Promise<void> {
    const { judge } = this.#options;
    if (typeof first === "string") return this.end(first);
    if (!this.#isStillValid()) return this.end("write");
    // Both services have responded, so it is known whether they accept the sender.
    const provenBy = this.#served.provenBy();
    if (provenBy === undefined) return;
    const judged = { ...targetOf(this.#served), provenBy };
    const finding = judge.compare(judged, first);
    if (finding === "differs") return this.#confirm(judged, first);
    this.#report(finding, first);
    // If responses can't be compared, a second one is useless.
    if (finding.result !== "not_comparable" && judge.needsOldPair(judged))
      await this.#learn(judged, first.old);
  }

  /** Calls the old service again, to measure its own variation. */
  async #learn(judged: JudgedRequest, old: Answer): Promise<void> {
    const { budget, judge } = this.#options;
    if (!budget.takeCall(this.#served.payer)) return;
    const again = await this.#ask("old");
    if (typeof again === "string" || !this.#takeMemory(again.body.length)) return;
    if (this.#isStillValid()) judge.learn(judged, old, again);
  }

  /** Calls both services again concurrently, and decides. */
  async #confirm(judged: JudgedRequest, first: AnswerPair): Promise<void> {
    const { budget, fence, judge, confirmAfterMs = () => 1000 + Math.random() * 4000 } = this.#options;
    await wait(confirmAfterMs(), undefined, { ref: false, signal: this.#options.closing });
    const { writers, payer } = this.#served;
    if (!fence.isQuiet(writers) || !this.#isStillValid()) return this.end("write");
    if (!budget.takeCall(payer) || !budget.takeCall(payer)) return this.end("budget");
    const [old, next] = await Promise.all([this.#ask("old"), this.#ask("new")]);
    const second = toPair(this.#hold(old), this.#hold(next));
    if (typeof second === "string") return this.end(second);
    if (!this.#isStillValid()) return this.end("write");
    this.#report(judge.confirm(judged, first, second), first);
  }

  /** Reports that nothing could be compared. */
  end(reason: NotComparableReason): void {
    this.#report(notComparable(reason));
  }

  /** Reports a result. Comparisons of unknown senders are never counted. @param pair the source of an example */
  #report(finding: Finding, pair?: AnswerPair): void {
    const { request, route, client, token, provenBy } = this.#served;
    const owner = provenBy();
    if (owner === undefined) return;
    const { method, path, filter } = targetOf(this.#served);
    const tokens = [...(token === undefined ? [] : [token]), ...usualTokenTexts(request)];
    const body = this.#body && { body: this.#body };
    this.#options.report({
      ...finding,
      source: "legacy",
      provenBy: owner,
      subject: this.#options.subject(),
      route: route.name,
      client,
      time: Date.now(),
      requestId: request.id,
      ...(pair &&
        finding.differences.length > 0 && { sample: { method, path, filter, ...body, ...pair, tokens } }),
    });
  }
}
