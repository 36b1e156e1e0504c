/** Keeps and decodes the start of a streamed body. */
import type { IncomingHttpHeaders } from "node:http";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { isTextType } from "../../audit/index.ts";
import { ZSTD_WINDOW } from "../upstream/content-decoding.ts";
import { GrowingBytes } from "../bodies/growing-bytes.ts";

/** The first bytes of a streamed body. */
export class BodyStart {
  /** The headers of the body's message. */
  readonly headers: IncomingHttpHeaders;
  /** Number of bytes of the whole body so far. */
  length = 0;
  readonly #limit: number;
  readonly #kept = new GrowingBytes();

  /** @param limit maximum number of bytes that are kept, as they were sent. Files are not kept */
  constructor(headers: IncomingHttpHeaders, limit: number) {
    this.headers = headers;
    this.#limit = isTextType(headers["content-type"]) ? limit : 0;
  }

  add(chunk: Buffer): void {
    this.length += chunk.length;
    const room = this.#limit - this.#kept.length;
    if (room > 0) this.#kept.add(chunk.length <= room ? chunk : chunk.subarray(0, room), this.#limit);
  }

  /** Decodes the kept part. */
  async decode(limit = this.#limit): Promise<DecodedStart> {
    const { headers, length } = this;
    const message = { headers, type: headers["content-type"], length, isKept: this.#limit > 0 };
    const bytes = this.#kept.bytes();
    const isCut = bytes.length < length;
    const cut = isCut ? tooLong(this.#limit) : undefined;
    const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (coding === "identity" || bytes.length === 0) return { ...message, bytes, lack: cut };
    const decoder = DECODERS.get(coding);
    if (!decoder)
      return { ...message, bytes: Buffer.alloc(0), lack: cut ?? "its content encoding is not known" };
    const [create, flush] = decoder;
    const decoded = await decodeStart(create(isCut ? { finishFlush: flush } : {}), bytes, limit);
    const lack = cut ?? decoded.lack;
    return { ...message, ...decoded, lack, length: lack === undefined ? decoded.bytes.length : length };
  }
}

const tooLong = (limit: number): string => `it has more than ${limit} bytes`;

/** The first bytes of a body without its content coding, and facts about its message. */
export interface DecodedStart {
  readonly bytes: Buffer;
  /** The reason why bytes are missing; undefined if missing. */
  readonly lack: string | undefined;
  /** Whether bodies of this type are kept. */
  readonly isKept: boolean;
  readonly headers: IncomingHttpHeaders;
  /** The `Content-Type` of the body. */
  readonly type: string | undefined;
  /** Number of bytes of the whole body. If it could not be decoded to its end: the number of sent bytes. */
  readonly length: number;
}

type Decoder = NodeJS.ReadWriteStream & { destroy(): void };
type CreateDecoder = (options: { readonly finishFlush?: number }) => Decoder;

/** The decoders, each with the flush mode for decoding an incomplete body. */
const DECODERS: ReadonlyMap<string, readonly [CreateDecoder, flush: number]> = new Map<
  string,
  [CreateDecoder, number]
>([
  ["gzip", [createGunzip, constants.Z_SYNC_FLUSH]],
  ["x-gzip", [createGunzip, constants.Z_SYNC_FLUSH]],
  ["deflate", [createInflate, constants.Z_SYNC_FLUSH]],
  ["br", [createBrotliDecompress, constants.BROTLI_OPERATION_FLUSH]],
  ["zstd", [(options) => createZstdDecompress({ ...options, params: ZSTD_WINDOW }), constants.ZSTD_e_flush]],
]);

/** Decodes until there are enough bytes: a small body may expand to a gigabyte. */
async function decodeStart(
  decoder: Decoder,
  bytes: Buffer,
  limit: number,
): Promise<Pick<DecodedStart, "bytes" | "lack">> {
  const chunks: Buffer[] = [];
  let length = 0;
  let lack: string | undefined;
  try {
    decoder.end(bytes);
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= limit) continue;
      lack = tooLong(limit);
      break;
    }
  } catch {
    lack = "its content encoding is damaged, or the response is cut";
  } finally {
    decoder.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limit), lack };
}
