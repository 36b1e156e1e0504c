/** Finds the secrets in v4's response to a forwarded request, because the client's texts may repeat them. */
import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { isTextType, type Redaction, type SecretValues } from "../../audit/index.ts";

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
  ["zstd", zstdDecompressSync],
]);

const UNSEARCHED = "the upstream's response can't be searched for secrets";

/** Collects the beginning of a response while it is forwarded. */
export class NativeResponse {
  readonly #headers: IncomingHttpHeaders;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @param limit bytes of a body that is searched. 0: only the headers are */
  constructor(headers: IncomingHttpHeaders, limit: number) {
    this.#headers = { ...headers };
    this.#limit = isTextType(headers["content-type"]) ? limit : 0;
  }

  add(chunk: Buffer): void {
    if (this.#limit === 0) return;
    this.#length += chunk.length;
    if (this.#length <= this.#limit) this.#chunks.push(chunk);
    else this.#chunks.length = 0;
  }

  /**
   * Adds the values with secret names. A body that can't be searched may have any.
   *
   * @param isComplete Whether all of the body has come. Of a part the last value may be a part, too.
   */
  addSecretsTo(values: SecretValues, redaction: Redaction, isComplete: boolean): void {
    const bytes = this.#decode();
    if (!isComplete && typeof bytes !== "string" && redaction.mayHaveSecrets(bytes.toString()))
      values.markIncomplete(`${UNSEARCHED}: it is cut`);
    if (typeof bytes === "string") values.markIncomplete(`${UNSEARCHED}: ${bytes}`);
    const body =
      typeof bytes !== "string" && bytes.length > 0
        ? { bytes, type: this.#headers["content-type"] }
        : undefined;
    redaction.addFrom(
      { path: "", isRoute: false, query: "", texts: [], headers: this.#headers, body },
      values,
    );
  }

  /** The body without its encoding, or why it can't be decoded. */
  #decode(): Buffer | string {
    const tooLong = `it has more than ${this.#limit} bytes`;
    if (this.#length > this.#limit) return tooLong;
    const bytes = Buffer.concat(this.#chunks);
    const encoding = this.#headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity" || bytes.length === 0) return bytes;
    const decode = DECODERS.get(encoding);
    if (!decode) return "its content encoding is not known";
    try {
      return decode(bytes, { maxOutputLength: this.#limit });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === "ERR_BUFFER_TOO_LARGE"
        ? tooLong
        : "its content encoding is damaged, or the response is cut";
    }
  }
}
