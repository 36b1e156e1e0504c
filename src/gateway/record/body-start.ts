/** Keeps and decodes the start of a streamed body, and records its readable part. */
import type { IncomingHttpHeaders } from "node:http";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { isForm, NEEDLE_LENGTH, type Redaction } from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import { header, type AlphaRequest } from "../request/request.ts";
import { GrowingBytes } from "../bodies/growing-bytes.ts";

const JSON_TYPE = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\b/i;
/** Services that call their JSON a text or HTML are old, and not rare. */
const TEXT_TYPE = /^\s*(?:text\/(?:plain|html|javascript)|application\/javascript)\b/i;

/** Whether a body of a type may be recorded. Of files, markup and multipart forms the type and the size are. */
const isRecordable = (type: string): boolean =>
  JSON_TYPE.test(type) || TEXT_TYPE.test(type) || isForm({ type, bytes: Buffer.alloc(0) });

/** The first bytes of a body that streams by. */
export class BodyStart {
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the whole body so far. */
  length = 0;
  readonly #limit: number;
  readonly #kept = new GrowingBytes();

  /**
   * @param headers headers of its message
   * @param limit bytes that are kept, as they were sent
   * @param isWanted whether bodies of a type are kept. Default: types that may be recorded
   */
  constructor(headers: IncomingHttpHeaders, limit: number, isWanted = isRecordable) {
    this.headers = { ...headers };
    const { "content-type": type } = headers;
    this.#limit = type === undefined || isWanted(type) ? limit : 0;
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
    const cut = bytes.length < length ? tooLong(this.#limit) : undefined;
    const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity" || bytes.length === 0) return { ...message, bytes, lack: cut };
    const createDecoder = DECODERS.get(encoding);
    if (!createDecoder)
      return { ...message, bytes: Buffer.alloc(0), lack: cut ?? "its content encoding is not known" };
    const decoded = await decodeStart(createDecoder(cut !== undefined), bytes, limit);
    const lack = cut ?? decoded.lack;
    return { ...message, ...decoded, lack, length: lack === undefined ? decoded.bytes.length : length };
  }
}

const tooLong = (limit: number): string => `it has more than ${limit} bytes`;

/** The first bytes of a body without its content coding, and its message. */
export interface DecodedStart {
  readonly bytes: Buffer;
  /** Why these are not all of the bytes; undefined: they are. */
  readonly lack: string | undefined;
  /** Whether bodies of its type are kept. */
  readonly isKept: boolean;
  readonly headers: IncomingHttpHeaders;
  /** Its `Content-Type`. */
  readonly type: string | undefined;
  /** Bytes of the whole body. If it could not be decoded to its end: the bytes that were sent. */
  readonly length: number;
}

type Decoder = NodeJS.ReadWriteStream & { destroy(): void };

const createGunzipOf = (isCut: boolean): Decoder =>
  createGunzip(isCut ? { finishFlush: constants.Z_SYNC_FLUSH } : {});

/** Each decodes a body to its end, or one that is cut as far as it goes. */
const DECODERS: ReadonlyMap<string, (isCut: boolean) => Decoder> = new Map<
  string,
  (isCut: boolean) => Decoder
>([
  ["gzip", createGunzipOf],
  ["x-gzip", createGunzipOf],
  ["deflate", (isCut) => createInflate(isCut ? { finishFlush: constants.Z_SYNC_FLUSH } : {})],
  ["br", (isCut) => createBrotliDecompress(isCut ? { finishFlush: constants.BROTLI_OPERATION_FLUSH } : {})],
  ["zstd", (isCut) => createZstdDecompress(isCut ? { finishFlush: constants.ZSTD_e_flush } : {})],
]);

/** Decodes until there are as many bytes as wanted: a small body may have been a gigabyte. */
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

/** Maximum characters of a token that may be cut at the end of the kept part. */
const MARGIN = 128 * NEEDLE_LENGTH;

/** Bytes of a body that are kept for its record: a value that starts before the limit is complete. */
export const keptBytes = ({ maxSearched }: Redaction): number => maxSearched + MARGIN;

/** The start of some UTF-8 without an incomplete character at its end. */
export function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  const lead = bytes[end - 1] ?? 0;
  return lead < 0xc0 ? bytes : bytes.subarray(0, end - 1);
}

/** The part of a body that can be searched and recorded: JSON and forms, with any media type. */
export function readable(body: DecodedStart | undefined): Buffer | undefined {
  if (!body || body.bytes.length === 0) return undefined;
  const { type = "", lack } = body;
  const isWhole = lack === undefined;
  const bytes = isWhole ? body.bytes : wholeCharacters(body.bytes);
  const isReadable =
    JSON_TYPE.test(type) ||
    isForm({ type, bytes }) ||
    (isWhole ? isJson(bytes) : /^\s*[{[]/.test(bytes.toString("latin1", 0, 64)));
  return isReadable ? bytes : undefined;
}

/** The headers of a request that its body needs. */
export const bodyHeadersOf = (request: AlphaRequest): IncomingHttpHeaders => ({
  "content-type": header(request, "content-type"),
  "content-encoding": header(request, "content-encoding"),
});
