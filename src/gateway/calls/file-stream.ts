/** Files that are streamed between a client and v4, and the count of their bytes. */
import { once } from "node:events";
import { pipeline, Transform, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { printJson } from "../../base/index.ts";
import { HttpError } from "../../pack/index.ts";
import { decodeContent, toUtf8 } from "../upstream/content-decoding.ts";
import type { StreamResponse } from "../upstream/http-call.ts";
import type { FileResponse } from "../request/response.ts";
import { toUpstreamResponse, type UpstreamResponse } from "./upstream-response.ts";

/** A call to v4 that streams a file, in one direction or both. */
export interface FileRequest {
  readonly method: string;
  readonly path: string;
  /** Value of the `Accept` header. */
  readonly accept: string;
  /** The client's file, if it sends one. */
  readonly upload?:
    | { readonly headers: Readonly<Record<string, string>>; readonly stream: Readable }
    | undefined;
  /** Whether a successful response is a file, which is streamed. Otherwise, it is read as JSON. */
  readonly wantsFile: boolean;
}

/** v4's response to a {@link FileRequest}: a file, or a complete body. */
export type StreamedResponse =
  | { readonly status: number; readonly file: FileResponse }
  | { readonly status: number; readonly file?: undefined; readonly response: UpstreamResponse };

/** Maximum number of bytes that are read of v4's response to an upload, or of its error. */
const LONGEST_TEXT = 1024 * 1024;

/** Forwards a stream and counts its bytes. @throws {HttpError} 400, in the stream, beyond `most` bytes */
export function countBytes(most: number, onBytes: (count: number) => void): Transform {
  let left = most;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) return done(new HttpError(400, "The body is too large."));
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
}

const firstLine = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Reads a response that is not a file. */
export async function readResponse({ status, headers, body }: StreamResponse): Promise<UpstreamResponse> {
  const limited = countBytes(LONGEST_TEXT, () => {});
  pipeline(body, limited, () => {});
  const coding = firstLine(headers["content-encoding"]);
  const bytes = toUtf8(await decodeContent(await buffer(limited), coding, LONGEST_TEXT));
  return toUpstreamResponse({ status, headers, bytes, ms: 0 });
}

/** Records the size of a file: the number of bytes that were streamed when the record is written. */
export class StreamedBytes {
  readonly #bytes: { readonly in: number; readonly out: number };

  constructor(bytes: { readonly in: number; readonly out: number }) {
    this.#bytes = bytes;
  }

  get bytes(): Buffer {
    return Buffer.from(printJson({ streamed: this.#bytes }));
  }
}

/**
 * Opens v4's file after its first byte has arrived, because an error can be sent until then. Its bytes are counted.
 *
 * @param onBreak called if v4 ends the file early
 * @throws the error of a file that fails before its first byte
 */
export async function openFile(
  { status, headers, body }: StreamResponse,
  bytes: { out: number },
  onBreak: (error: Error) => void,
): Promise<StreamedResponse> {
  const stream = countBytes(Infinity, (count) => void (bytes.out += count));
  let hasBegun = false;
  pipeline(body, stream, (error) => {
    if (error && hasBegun) onBreak(error);
  });
  // An empty file is readable at its end.
  await once(stream, "readable");
  hasBegun = true;
  const type = firstLine(headers["content-type"]) ?? "";
  const length = firstLine(headers["content-length"]);
  return { status, file: { type, length, coding: firstLine(headers["content-encoding"]), stream } };
}
