import { Transform, type Readable, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ServerResponse } from "node:http";

/** Passes a body on, except for the chunk that would complete its length. */
class LastChunkHolder extends Transform {
  /** The part that is not passed on. */
  held = Buffer.alloc(0);
  #remaining: number;

  /** @param length of the body; infinite where it is not known: the end of its chunks is what is then missing */
  constructor(length: number) {
    super();
    this.#remaining = length;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#remaining -= chunk.length;
    if (this.#remaining > 0) return done(null, chunk);
    this.held = Buffer.concat([this.held, chunk]);
    return done();
  }
}

/**
 * Sends a body as it comes, except for the end of the response: the last byte of its length, or the end of its chunks. So the
 * client has no complete response before something else is done.
 *
 * @param onEnd gets what is still to be sent, and ends the response
 * @param onError is called where the body, or the client, broke off
 */
export function pipeAllButEnd(
  source: Readable,
  response: ServerResponse,
  onEnd: (rest: Buffer) => void,
  onError: (error: Error) => void,
): void {
  const holder = new LastChunkHolder(Number(response.getHeader("content-length") ?? Infinity));
  pipeline(source, holder, response, { end: false }).then(() => onEnd(holder.held), onError);
}
