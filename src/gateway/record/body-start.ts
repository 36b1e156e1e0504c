/** The beginning of a body that streams by: it is kept, decoded, and what can be read of it is recorded. */
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
import { header, type AlphaRequest } from "../pipeline/request.ts";
import { GrowingBytes } from "../bodies/growing-bytes.ts";

const JSON_TYPE = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\b/i;
/** Services that call their JSON a text or HTML are old, and not rare. */
const TEXT_TYPE = /^\s*(?:text\/(?:plain|html|javascript)|application\/javascript)\b/i;

/** Whether a body of a type may be recorded. Of files, markup and multipart forms the type and the size are. */
const isRecordable = (type: string | undefined): boolean =>
  type === undefined ||
  JSON_TYPE.test(type) ||
  TEXT_TYPE.test(type) ||
  isForm({ type, bytes: Buffer.alloc(0) });

/** The first bytes of a body that streams by. */
export class BodyStart {
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the whole body so far. */
  length = 0;
  readonly #limit: number;
  readonly #kept = new GrowingBytes();

  /** @param headers Those of its message. @param limit Bytes that are kept, as they were sent. */
  constructor(headers: IncomingHttpHeaders, limit: number) {
    this.headers = { ...headers };
    this.#limit = isRecordable(headers["content-type"]) ? limit : 0;
  }

  add(chunk: Buffer): void {
    this.length += chunk.length;
    const room = this.#limit - this.#kept.length;
    if (room > 0) this.#kept.add(chunk.length <= room ? chunk : chunk.subarray(0, room), this.#limit);
  }

  /** Whether all of its bytes are kept. */
  get isWhole(): boolean {
    return this.#kept.length === this.length;
  }

  get type(): string | undefined {
    return this.headers["content-type"];
  }

  /** Decodes what is kept. */
  async decode(limit = this.#limit): Promise<DecodedStart> {
    const bytes = this.#kept.bytes();
    const { isWhole, type, length } = this;
    const encoding = this.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity" || bytes.length === 0) return { bytes, isWhole, type, length };
    const decoder = DECODERS.get(encoding);
    if (!decoder) return { bytes: Buffer.alloc(0), isWhole: false, type, length };
    const decoded = await decodeStart(decoder(), bytes, limit);
    return {
      ...decoded,
      isWhole: decoded.isWhole && isWhole,
      type,
      length: isWhole && decoded.isWhole ? decoded.bytes.length : length,
    };
  }
}

/** The first bytes of a body without its content coding. */
export interface DecodedStart {
  readonly bytes: Buffer;
  /** Whether it is all of the body. */
  readonly isWhole: boolean;
  /** Its `Content-Type`. */
  readonly type: string | undefined;
  /** Bytes of the whole body; those that were sent where it could not be decoded to its end. */
  readonly length: number;
}

const GZIP = (): NodeJS.ReadWriteStream & { destroy(): void } =>
  createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });

type Decoder = ReturnType<typeof GZIP>;

/** Each takes a body that is cut. */
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map<string, () => Decoder>([
  ["gzip", GZIP],
  ["x-gzip", GZIP],
  ["deflate", () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH })],
  ["br", () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  ["zstd", () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })],
]);

/** Decodes until there are as many bytes as wanted: a small body may have been a gigabyte. */
async function decodeStart(
  decoder: Decoder,
  bytes: Buffer,
  limit: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    decoder.end(bytes);
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) return { bytes: Buffer.concat(chunks).subarray(0, limit), isWhole: false };
    }
    return { bytes: Buffer.concat(chunks), isWhole: true };
  } catch {
    return { bytes: Buffer.concat(chunks), isWhole: false };
  } finally {
    decoder.destroy();
  }
}

/** Characters of a token that may be cut at the end of what is kept. */
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

/** The part of a body that can be searched and recorded: JSON and forms, whatever their type says. */
export function readable(body: DecodedStart | undefined): Buffer | undefined {
  if (!body || body.bytes.length === 0) return undefined;
  const { type = "", isWhole } = body;
  const bytes = isWhole ? body.bytes : wholeCharacters(body.bytes);
  if (JSON_TYPE.test(type) || isForm({ type, bytes })) return bytes;
  return isWhole
    ? isJson(bytes)
      ? bytes
      : undefined
    : /^\s*[{[]/.test(bytes.toString("latin1", 0, 64))
      ? bytes
      : undefined;
}

/** The headers of a request that its body needs. */
export const bodyHeadersOf = (request: AlphaRequest): IncomingHttpHeaders => ({
  "content-type": header(request, "content-type"),
  "content-encoding": header(request, "content-encoding"),
});
