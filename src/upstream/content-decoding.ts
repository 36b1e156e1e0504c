import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { UpstreamError } from "./upstream-error.ts";

type Decoder = (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** A map: as members of an object, `constructor` and its like would be codings too. */
const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", promisify(gunzip) as Decoder],
  ["x-gzip", promisify(gunzip) as Decoder],
  ["deflate", promisify(inflate) as Decoder],
  ["br", promisify(brotliDecompress) as Decoder],
  ["zstd", promisify(zstdDecompress) as Decoder],
]);

/**
 * Undoes a content coding (RFC 9110 8.4). We ask for `identity`, yet some services compress all the same
 * (Kong#13741). The decoded size is capped: a few kilobytes can decode to gigabytes.
 *
 * @throws {UpstreamError} for a coding nobody knows; zlib's own errors otherwise.
 */
export async function decodeContent(
  body: Buffer,
  coding: string | undefined,
  limit: number,
): Promise<Buffer> {
  const codings = (coding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name && name !== "identity");
  if (codings.length > 2) throw new UpstreamError("cut_off", "more than two content codings");
  let data = body;
  for (const name of codings.toReversed()) {
    const decode = DECODERS.get(name);
    if (!decode) throw new UpstreamError("cut_off", "an unknown content coding");
    data = await decode(data, { maxOutputLength: limit });
  }
  return data;
}
