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
import { type AskedRequest, bodyOverridesMethod, type ServedRequest, targetOf } from "./served-request.ts";
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
  readonly answers: Readonly<Record<Side, SecondAnswer<AskedRequest>>>;
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
    const { writers, payer, obstacle } = served;
    const reading = obstacle === undefined ? this.#options.fence.enter(writers) : undefined;
    if (!reading || !this.#reserve(payer)) {
      reading?.leave();
      reportFinding(served, notComparable(obstacle ?? (reading ? "budget" : "write")), this.#options);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<Served>();
    const timer = setTimeout(() => resolve({ answer: "timeout", body: undefined }), MAX_SERVED_MS).unref();
    void new Comparison(served, reading, this.#options).run(promise);
    return {
      served(answer, body) {
        clearTimeout(timer);
        resolve({ answer, body });
      },
    };
  }

  /** Reserves a place and a call of the budget. @returns whether there is one */
  #reserve(payer: string): boolean {
    const { budget } = this.#options;
    if (!budget.begin(payer)) return false;
    const hasCall = budget.takeCall(payer);
    if (!hasCall) budget.end(payer, 0);
    return hasCall;
  }
}

/** Returns both responses, or the reason why one is missing. */
function toPair(old: Asked, next: Asked): AnswerPair | NotComparableReason {
  if (typeof old === "string") return old;
  return typeof next === "string" ? next : { old, new: next };
}

/**
 * Reports a result. Comparisons of unknown senders are never counted.
 *
 * @param sample both responses and the body of the request, the source of an example
 */
function reportFinding(
  served: ServedRequest,
  finding: Finding,
  { report, subject, answers }: ShadowOptions,
  sample?: AnswerPair & { readonly body?: Buffer },
): void {
  const { request, route, client, token } = served;
  const provenBy = served.provenBy();
  if (provenBy === undefined) return;
  const { method, path, filter } = targetOf(served);
  const tokens = [...(token === undefined ? [] : [token]), ...usualTokenTexts(request)];
  report({
    ...finding,
    source: answers.old.source,
    provenBy,
    subject: subject(),
    route: route.name,
    client,
    time: Date.now(),
    requestId: request.id,
    ...(sample && finding.differences.length > 0 && { sample: { method, path, filter, ...sample, tokens } }),
  });
}

/** One comparison in progress. */
class Comparison {
  readonly #served: ServedRequest;
  /** The read, which writes of the client invalidate. */
  readonly #reading: Reading;
  readonly #options: ShadowOptions;
  #body: Buffer | undefined;
  #bytes = 0;

  constructor(served: ServedRequest, reading: Reading, options: ShadowOptions) {
    this.#served = served;
    this.#reading = reading;
    this.#options = options;
  }

  /** Compares the client's response with that of the other side, which is called now, or once a body is known. */
  async run(first: Promise<Served>): Promise<void> {
    const { request, side, payer } = this.#served;
    const other = READ_METHODS.has(request.method) ? this.#askOther() : undefined;
    try {
      const { answer, body } = await first;
      this.#body = body;
      const ours = (body && this.#obstacleOf(body)) ?? this.#hold(answer);
      if (typeof ours === "string") {
        this.#end(ours);
        // The comparison keeps its place until the other side has responded.
        return void (await other);
      }
      // Without its body, a POST would not be the same request.
      const theirs = await (other ?? (body ? this.#askOther() : "unreadable"));
      await idle(undefined, { ref: false });
      await this.#compare(side === "old" ? toPair(ours, theirs) : toPair(theirs, ours));
    } catch (error) {
      if (this.#options.closing.aborted) return;
      this.#options.onError(error, request.id);
      this.#end("unreadable");
    } finally {
      this.#options.budget.end(payer, this.#bytes);
      this.#reading.leave();
    }
  }

  /** Calls the side that does not serve the client. */
  async #askOther(): Promise<Asked> {
    return this.#hold(await this.#ask(this.#served.side === "old" ? "new" : "old"));
  }

  #ask(side: Side): Promise<Asked> {
    return this.#options.answers[side].ask({ ...this.#served, body: this.#body });
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

  async #compare(first: AnswerPair | NotComparableReason): Promise<void> {
    const { judge } = this.#options;
    if (typeof first === "string") return this.#end(first);
    if (!this.#reading.isValid()) return this.#end("write");
    // Both services have responded, so it is known whether they accept the sender.
    const provenBy = this.#served.provenBy();
    if (provenBy === undefined) return;
    const judged = { ...targetOf(this.#served), provenBy };
    const finding = judge.compare(judged, first);
    if (finding.result === "differs") return this.#confirm(judged, first);
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
    if (this.#reading.isValid()) judge.learn(judged, old, again);
  }

  /** Calls both services again concurrently, and decides. */
  async #confirm(judged: JudgedRequest, first: AnswerPair): Promise<void> {
    const { budget, fence, judge, confirmAfterMs = () => 1000 + Math.random() * 4000 } = this.#options;
    await wait(confirmAfterMs(), undefined, { ref: false, signal: this.#options.closing });
    const { writers, payer } = this.#served;
    if (!fence.isQuiet(writers) || !this.#reading.isValid()) return this.#end("write");
    if (!budget.takeCall(payer) || !budget.takeCall(payer)) return this.#end("budget");
    const [old, next] = await Promise.all([this.#ask("old"), this.#ask("new")]);
    const second = toPair(this.#hold(old), this.#hold(next));
    if (typeof second === "string") return this.#end(second);
    if (!this.#reading.isValid()) return this.#end("write");
    this.#report(judge.confirm(judged, first, second), first);
  }

  #end(reason: NotComparableReason): void {
    this.#report(notComparable(reason));
  }

  /** @param pair the source of an example */
  #report(finding: Finding, pair?: AnswerPair): void {
    const sample = pair && { ...pair, ...(this.#body && { body: this.#body }) };
    reportFinding(this.#served, finding, this.#options, sample);
  }
}
