import type { IncomingMessage } from "node:http";
import { HttpError, UNREADABLE_BODY } from "../../pack/index.ts";
import { decodeContent } from "../upstream/content-decoding.ts";
import { ShareUsage, type ShareClient } from "../upstream/share-usage.ts";
import { toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { Readable } from "node:stream";
import type { ReadBody } from "../pipeline/request.ts";

/** Bytes of request bodies that a process keeps at once: 32 of the largest, as far as that is not above this. */
const MOST_BYTES = 128 * 1024 * 1024;
const MOST_BODIES = 32;

/** What clients have of it, in bytes. */
interface Budget {
  readonly most: number;
  readonly usage: ShareUsage;
}

/** Two of the largest bodies always find room. */
function createBudget(bodyLimit: number): Budget {
  const all = Math.min(MOST_BODIES * bodyLimit, MOST_BYTES);
  const share = (part: number, bodies: number): number => Math.max(all * part, bodies * bodyLimit);
  const usage = new ShareUsage({
    token: share(1 / 2, 2),
    address: share(3 / 4, 3),
    unknown: share(1 / 4, 2),
    unknownPerAddress: share(1 / 16, 2),
  });
  return { most: share(1, 4), usage };
}

/** How slowly a body may come. */
interface Patience {
  /** For so long it may come as slowly as it likes. */
  readonly graceMs: number;
  /** After that it must have come at this rate, on average. */
  readonly bytesPerSecond: number;
  readonly deadlineMs: number;
}

const PATIENCE: Readonly<Record<"known" | "unknown", Patience>> = {
  known: { graceMs: 10_000, bytesPerSecond: 4096, deadlineMs: 240_000 },
  unknown: { graceMs: 5000, bytesPerSecond: 16_384, deadlineMs: 20_000 },
};

/** How often bodies are checked for their rate. */
const CHECK_MS = 1000;

const NO_BYTES = Buffer.alloc(0);

const tooLarge = (): HttpError => new HttpError(400, "The body is too large.");
const unreadable = (): HttpError => new HttpError(400, UNREADABLE_BODY);

/** Too many others are in memory. Clients know 500 as a failure that passes. */
const busy = (): HttpError =>
  new HttpError(500, "The service is busy. Try again later.", {
    by: "bodies",
    warning: "too many bodies are in memory",
  });

/** One body, and what it takes of the budget until `release`. */
export interface BodyReader {
  readonly read: ReadBody;
  /** The body as it arrives, outside of the budget, in place of `read`. */
  readonly openUpload: () => Readable;
  /** Whether reading has failed, or the upload has ended early: the client may still be sending. */
  hasUnreadRest(): boolean;
  release(): void;
}

/** Reads the bodies of requests, within one budget of memory for the whole process. */
export interface RequestBodies {
  of(request: IncomingMessage): BodyReader;
  /** Bytes in memory. */
  readonly bytes: number;
}

/** A body that is still coming. */
interface Coming {
  isLate(now: number): boolean;
  fail(error: HttpError): void;
}

async function decodedBody(body: Buffer, coding: string, limit: number): Promise<Buffer> {
  try {
    return await decodeContent(body, coding, limit);
  } catch (error) {
    if (toUpstreamError(error).kind === "too_large") throw tooLarge();
    if (error instanceof UpstreamError)
      throw new HttpError(400, "The Content-Encoding of the body is not supported.");
    throw unreadable();
  }
}

/** Does a request say that it has a body? */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

class Reader implements BodyReader {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #budget: Budget;
  readonly #coming: Set<Coming>;
  #owner: ShareClient = { isKnown: false, token: undefined, address: "" };
  #held = 0;
  #failed = false;
  #isUpload = false;

  constructor(request: IncomingMessage, limit: number, budget: Budget, coming: Set<Coming>) {
    this.#request = request;
    this.#limit = limit;
    this.#budget = budget;
    this.#coming = coming;
  }

  readonly read: ReadBody = async (owner, most = this.#limit) => {
    this.#owner = owner;
    if (!hasBody(this.#request)) return NO_BYTES;
    if (this.#request.readableEnded)
      throw new Error("Another middleware has read the body: mount the gateway before body parsers.");
    try {
      const limit = Math.min(most, this.#limit);
      const body = await this.#collect(limit);
      const coding = this.#request.headers["content-encoding"] ?? "identity";
      return coding.toLowerCase() === "identity" ? body : await this.#decode(body, coding, limit);
    } catch (error) {
      this.#failed = true;
      this.release();
      throw error;
    }
  };

  readonly openUpload = (): Readable => {
    this.#isUpload = true;
    return this.#request;
  };

  hasUnreadRest(): boolean {
    return this.#failed || (this.#isUpload && !this.#request.readableEnded);
  }

  release(): void {
    this.#setHeld(0);
  }

  #hold(bytes: number): void {
    const { most, usage } = this.#budget;
    const more = bytes - this.#held;
    if (usage.all + more > most || !usage.isWithin(this.#owner, more)) throw busy();
    this.#setHeld(bytes);
  }

  #setHeld(bytes: number): void {
    if (bytes !== this.#held) this.#budget.usage.count(this.#owner, bytes - this.#held);
    this.#held = bytes;
  }

  /** What comes out is not known before: a few kilobytes may become the largest body. */
  async #decode(body: Buffer, coding: string, limit: number): Promise<Buffer> {
    this.#hold(this.#held + limit);
    const decodedBytes = await decodedBody(body, coding, limit);
    this.#setHeld(decodedBytes.length);
    return decodedBytes;
  }

  /**
   * Collects the body, up to the limit: what exceeds it is not waited for. Not by the `raw-body` package: it has no hook
   * for each chunk, which the budget and the minimum rate need, and it keeps each chunk, however small, as a buffer.
   */
  #collect(limit: number): Promise<Buffer> {
    const request = this.#request;
    const declared = Number(request.headers["content-length"] ?? 0);
    const { graceMs, bytesPerSecond, deadlineMs } = PATIENCE[this.#owner.isKnown ? "known" : "unknown"];
    const begun = performance.now();
    return new Promise((resolve, reject) => {
      if (declared > limit) return reject(tooLarge());
      let collected: Buffer = NO_BYTES;
      let length = 0;

      /** A single chunk is not copied. Of many, each as small as its sender likes, the bytes are copied together. */
      const keep = (chunk: Buffer): void => {
        if (length + chunk.length > limit) throw tooLarge();
        if (length === 0) {
          this.#hold(chunk.length);
          collected = chunk;
        } else {
          if (length + chunk.length > collected.length) {
            const room = Math.max(length + chunk.length, Math.min(2 * length, declared || limit));
            this.#hold(room);
            const larger = Buffer.allocUnsafeSlow(room);
            collected.copy(larger, 0, 0, length);
            collected = larger;
          }
          chunk.copy(collected, length);
        }
        length += chunk.length;
      };
      const onData = (chunk: Buffer): void => {
        try {
          keep(chunk);
        } catch (error) {
          fail(error as HttpError);
        }
      };
      const settle = (): void => {
        request.off("data", onData).off("end", onEnd).off("close", onBroken);
        this.#coming.delete(coming);
      };
      const onEnd = (): void => {
        settle();
        resolve(collected.subarray(0, length));
      };
      const fail = (error: HttpError): void => {
        settle();
        reject(error);
      };
      const onBroken = (): void => fail(unreadable());
      const coming: Coming = {
        fail,
        isLate(now) {
          const ms = now - begun;
          return ms > deadlineMs || (ms > graceMs && (length / (ms - graceMs)) * 1000 < bytesPerSecond);
        },
      };
      this.#coming.add(coming);
      // An error without a listener would end the process; "close" follows it.
      request
        .on("data", onData)
        .on("end", onEnd)
        .on("close", onBroken)
        .on("error", () => {});
    });
  }
}

/** `bodyLimit` in bytes: of one body, before and after decoding. */
export function createBodyReaders(bodyLimit: number): RequestBodies {
  const budget = createBudget(bodyLimit);
  const coming = new Set<Coming>();
  let timer: NodeJS.Timeout | undefined;

  /** One timer for all, which ends when nothing has come for a while. */
  function check(): void {
    const now = performance.now();
    for (const body of coming)
      if (body.isLate(now)) body.fail(new HttpError(400, "The body came too slowly."));
    if (coming.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    of(request) {
      timer ??= setInterval(check, CHECK_MS).unref();
      return new Reader(request, bodyLimit, budget, coming);
    },
    get bytes() {
      return budget.usage.all;
    },
  };
}
