import type { IncomingMessage } from "node:http";
import { HttpError, UNREADABLE_BODY } from "../../pack/index.ts";
import { decodeContent } from "../upstream/content-decoding.ts";
import type { ShareClient } from "../upstream/share-usage.ts";
import { toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { Readable } from "node:stream";
import type { ReadBody } from "../request/request.ts";
import { BodyPace } from "./body-pace.ts";
import { BodyRoom, type HeldBody, isSmallBody } from "./body-room.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { RATE_CHECK_MS } from "./policy.ts";

const NO_BYTES = Buffer.alloc(0);

const tooLarge = (): HttpError => new HttpError(400, "The body is too large.");
const unreadable = (): HttpError => new HttpError(400, UNREADABLE_BODY);

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

const declaredLength = ({ headers }: IncomingMessage): number => Number(headers["content-length"] ?? 0);

/** Whether a request announces a body. */
export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || declaredLength(request) > 0;

/** One body, and its part of the memory budget until `release`. */
export class BodyReader implements HeldBody {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #room: BodyRoom<BodyReader>;
  readonly isDeclaredLarge: boolean;
  owner: ShareClient = { isKnown: false, token: undefined, networks: [] };
  held = 0;
  #receiving: { readonly pace: BodyPace; readonly fail: (error: HttpError) => void } | undefined;
  #failed = false;
  #isUpload = false;

  constructor(request: IncomingMessage, limit: number, room: BodyRoom<BodyReader>) {
    this.#request = request;
    this.#limit = limit;
    this.#room = room;
    this.isDeclaredLarge = !isSmallBody(declaredLength(request));
  }

  readonly read: ReadBody = async (owner, most = this.#limit) => {
    this.owner = owner;
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

  /** Opens the body as a stream, outside of the budget, instead of `read`. */
  readonly openUpload = (): Readable => {
    this.#isUpload = true;
    return this.#request;
  };

  /** Whether reading has failed, or the upload has ended early. The client may still be sending. */
  hasUnreadRest(): boolean {
    return this.#failed || (this.#isUpload && !this.#request.readableEnded);
  }

  recentBytes(): number | undefined {
    return this.#receiving?.pace.recentBytes();
  }

  fail(error: HttpError): void {
    this.#receiving?.fail(error);
  }

  /** Ends the body if it is too slow. While the body waits for room, the gateway stops reading it. Called once per second. */
  checkPace(): void {
    if (!this.#request.isPaused() && this.#receiving?.pace.check())
      this.fail(new HttpError(400, "The body came too slowly."));
  }

  release(): void {
    this.#room.resize(this, 0);
  }

  /** Decodes a body. The decoded size is unknown in advance: a few kilobytes may become the largest body. */
  async #decode(body: Buffer, coding: string, limit: number): Promise<Buffer> {
    const bytes = this.held + limit;
    if (!this.#room.resize(this, bytes))
      await new Promise<void>((resolve, reject) => void this.#room.waitFor(this, bytes, resolve, reject));
    const decodedBytes = await decodedBody(body, coding, limit);
    this.#room.resize(this, decodedBytes.length);
    return decodedBytes;
  }

  /**
   * Collects the body, up to the limit, and does not wait for further bytes. It does not use the `raw-body` package,
   * which has no hook for each chunk, as the budget and the minimum rate require. The package also keeps each chunk,
   * however small, as a buffer.
   */
  #collect(limit: number): Promise<Buffer> {
    const request = this.#request;
    const declared = declaredLength(request);
    const most = declared || limit;
    return new Promise((resolve, reject) => {
      if (declared > limit) return reject(tooLarge());
      const collected = new GrowingBytes();
      let leaveQueue: (() => void) | undefined;

      const onData = (chunk: Buffer): void => {
        if (collected.length + chunk.length > limit) return fail(tooLarge());
        const capacity = collected.capacityWith(chunk.length, most);
        if (this.#room.resize(this, capacity)) return collected.add(chunk, most);
        request.pause();
        const onRoom = (): void => {
          collected.add(chunk, most);
          request.resume();
        };
        leaveQueue = this.#room.waitFor(this, capacity, onRoom, fail);
      };
      const settle = (): void => {
        leaveQueue?.();
        request.off("data", onData).off("end", onEnd).off("close", onBroken);
        this.#room.coming.delete(this);
        // The receiver contains the collected bytes.
        this.#receiving = undefined;
      };
      const onEnd = (): void => {
        settle();
        resolve(collected.bytes());
      };
      const fail = (error: HttpError): void => {
        settle();
        request.resume();
        // The memory is released immediately, because other bodies may wait for it.
        this.release();
        reject(error);
      };
      const onBroken = (): void => fail(unreadable());
      this.#receiving = { pace: new BodyPace(this.owner.isKnown, () => collected.length), fail };
      this.#room.coming.add(this);
      // An error without a listener would end the process. "close" follows it.
      request
        .on("data", onData)
        .on("end", onEnd)
        .on("close", onBroken)
        .on("error", () => {});
    });
  }
}

/** Reads the bodies of requests, within one memory budget for the whole process. */
export type RequestBodies = ReturnType<typeof createBodyReaders>;

/** @param bodyLimit maximum number of bytes of one body, before and after decoding */
export function createBodyReaders(bodyLimit: number) {
  const room = new BodyRoom<BodyReader>(bodyLimit);
  let timer: NodeJS.Timeout | undefined;

  /** Checks all bodies with one timer. It stops after some time without bodies. */
  function check(): void {
    for (const body of room.coming) body.checkPace();
    room.makeRoom();
    if (room.coming.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    of(request: IncomingMessage): BodyReader {
      timer ??= setInterval(check, RATE_CHECK_MS).unref();
      return new BodyReader(request, bodyLimit, room);
    },
    /** Bytes in memory. */
    get bytes(): number {
      return room.bytes;
    },
  };
}
