import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { UpstreamError } from "./upstream-error.ts";

type Decoder = (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** A map: `constructor` and other inherited members of an object must not count as codings. */
const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", promisify(gunzip) as Decoder],
  ["x-gzip", promisify(gunzip) as Decoder],
  ["deflate", promisify(inflate) as Decoder],
  ["br", promisify(brotliDecompress) as Decoder],
  ["zstd", promisify(zstdDecompress) as Decoder],
]);

/**
 * Decodes a body by its `Content-Encoding` (RFC 9110 8.4). The gateway asks for `identity`, but some services compress
 * anyway (Kong#13741).
 *
 * @param maxBytes Bound of the decoded size: a few kilobytes can decode to gigabytes.
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
    .filter((name) => name && name !== "identity");
  if (codings.length > 2) throw new UpstreamError("truncated", "more than two content codings");
  let data = body;
  for (const name of codings.toReversed()) {
    const decode = DECODERS.get(name);
    if (!decode) throw new UpstreamError("truncated", "an unknown content coding");
    data = await decode(data, { maxOutputLength: maxBytes });
  }
  return data;
}
