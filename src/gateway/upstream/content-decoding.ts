import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from "node:zlib";
import { UpstreamError } from "./upstream-error.ts";

interface DecodeOptions {
  readonly maxOutputLength: number;
  readonly params?: Readonly<Record<number, number>>;
}

type Decoder = (data: Buffer, options: DecodeOptions) => Promise<Buffer>;

/** The maximum window of zstd in HTTP: 8 MB (RFC 9659). By default, a few bytes can ask for 128 MB of memory. */
export const ZSTD_WINDOW: Readonly<Record<number, number>> = { [constants.ZSTD_d_windowLogMax]: 23 };

const decodeZstd = promisify(zstdDecompress) as Decoder;

const inflateZlib = promisify(inflate) as Decoder;
const inflateBare = promisify(inflateRaw) as Decoder;

/**
 * Whether data starts with the header of the zlib format (RFC 1950 2.2). Some services send `deflate` without it (RFC
 * 9110 8.4.1.2).
 */
const isZlib = (data: Buffer): boolean =>
  data.length < 2 || ((data.readUInt8(0) & 0x0f) === 8 && data.readUInt16BE(0) % 31 === 0);

/** A map, because `constructor` and other inherited members of an object must not be treated as codings. */
const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", promisify(gunzip) as Decoder],
  ["x-gzip", promisify(gunzip) as Decoder],
  ["deflate", (data, options) => (isZlib(data) ? inflateZlib : inflateBare)(data, options)],
  ["br", promisify(brotliDecompress) as Decoder],
  ["zstd", (data, options) => decodeZstd(data, { ...options, params: ZSTD_WINDOW })],
]);

/** Names that mean no coding. `none` is not standard, but some services send it. */
const NO_CODING = new Set(["", "identity", "none"]);

/**
 * Decodes a body by its `Content-Encoding` (RFC 9110 8.4). The gateway requests `identity`, but some services compress
 * anyway (Kong#13741).
 *
 * @param maxBytes Maximum decoded size: a few kilobytes can decode to gigabytes.
 * @throws {UpstreamError} for an unknown coding, or more than two. Errors of zlib for invalid data.
 */
export async function decodeContent(
  body: Buffer,
  coding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const codings = (coding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !NO_CODING.has(name));
  if (codings.length > 2) throw new UpstreamError("truncated", "more than two content codings");
  // An empty body needs no decoding, as with 204.
  if (body.length === 0) return body;
  let data = body;
  for (const name of codings.toReversed()) {
    const decode = DECODERS.get(name);
    if (!decode) throw new UpstreamError("truncated", "an unknown content coding");
    data = await decode(data, { maxOutputLength: maxBytes });
  }
  return data;
}

const BYTE_ORDER_MARK = Buffer.from("\u{feff}");

/**
 * Converts bytes to valid UTF-8: invalid bytes become U+FFFD, and a byte order mark is removed (RFC 8259 8.1 allows
 * ignoring it).
 */
export function toUtf8(data: Buffer): Buffer {
  const text = isUtf8(data) ? data : Buffer.from(data.toString("utf8"));
  const hasMark = text.length >= 3 && BYTE_ORDER_MARK.compare(text, 0, 3) === 0;
  return hasMark ? text.subarray(3) : text;
}
