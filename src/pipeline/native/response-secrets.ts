/** What the audit needs of v4's response to a forwarded request: the secrets in it, which the client's texts may repeat. */
import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { Redaction } from "../../audit/redact.ts";
import type { SecretValues } from "../../audit/secret-values.ts";

/** Bodies of other types are files: images, archives. */
const SEARCHED_TYPE =
  /^\s*(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b|application\/x-(?:www-form-urlencoded|ndjson)\b)/i;

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Collects the beginning of a response while it is forwarded. */
export class NativeResponse {
  readonly #headers: IncomingHttpHeaders;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @param limit bytes of a body that is searched. 0: only the headers are */
  constructor(headers: IncomingHttpHeaders, limit: number) {
    this.#headers = { ...headers };
    const type = headers["content-type"];
    this.#limit = type === undefined || SEARCHED_TYPE.test(type) ? limit : 0;
  }

  add(chunk: Buffer): void {
    if (this.#limit === 0) return;
    this.#length += chunk.length;
    if (this.#length <= this.#limit) this.#chunks.push(chunk);
    else this.#chunks.length = 0;
  }

  /** Adds the values with secret names. A body that is too long to be searched may have any. */
  addSecretsTo(values: SecretValues, redaction: Redaction): void {
    const bytes = this.#length > this.#limit ? undefined : this.#decode();
    if (!bytes) values.markIncomplete();
    const body = bytes && bytes.length > 0 ? { bytes, type: this.#headers["content-type"] } : undefined;
    redaction.addFrom(
      { path: "", isRoute: false, query: "", texts: [], headers: this.#headers, body },
      values,
    );
  }

  /** The body without its encoding; undefined if it is too long, damaged or of another encoding. */
  #decode(): Buffer | undefined {
    const bytes = Buffer.concat(this.#chunks);
    const encoding = this.#headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity" || bytes.length === 0) return bytes;
    try {
      return DECODERS[encoding]?.(bytes, { maxOutputLength: this.#limit });
    } catch {
      return undefined;
    }
  }
}
