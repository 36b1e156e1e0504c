import type { IncomingMessage } from "node:http";
import { Refusal } from "../dialect/refusal.ts";
import { decoded } from "../upstream/decode.ts";
import { upstreamFault, UpstreamFault } from "../upstream/fault.ts";
import type { AlphaRequest } from "./exchange.ts";

const tooLarge = (): Refusal => new Refusal(400, "The body is too large.");

/** As it came, and no longer than the limit: what exceeds it is not waited for. */
function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    if (Number(request.headers["content-length"] ?? 0) > limit) return reject(tooLarge());
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) reject(tooLarge());
      else chunks.push(chunk);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    const broken = () => reject(new Refusal(400, "The body could not be read."));
    request.once("error", broken).once("close", broken);
  });
}

async function decodedBody(body: Buffer, coding: string | undefined, limit: number): Promise<Buffer> {
  try {
    return await decoded(body, coding, limit);
  } catch (error) {
    if (upstreamFault(error).kind === "too_large") throw tooLarge();
    if (error instanceof UpstreamFault)
      throw new Refusal(400, "The Content-Encoding of the body is not supported.");
    throw new Refusal(400, "The body could not be read.");
  }
}

/**
 * Reads the body of a request, decoded, or says why it can't be read. The limit, in bytes, holds before and
 * after decoding, and is looked at while the body comes: nobody waits for the end of an upload without one.
 */
export async function readBytes(
  request: IncomingMessage,
  limit: number,
): Promise<Pick<AlphaRequest, "body" | "bodyRefusal">> {
  try {
    const body = await collect(request, limit);
    return { body: await decodedBody(body, request.headers["content-encoding"], limit) };
  } catch (error) {
    if (error instanceof Refusal) return { body: undefined, bodyRefusal: error };
    throw error;
  }
}
