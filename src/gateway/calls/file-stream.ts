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
  /** The client's file, where it sends one. */
  readonly upload?:
    | { readonly headers: Readonly<Record<string, string>>; readonly stream: Readable }
    | undefined;
  /** Whether a success is a file, which is streamed. Otherwise it is read as JSON. */
  readonly wantsFile: boolean;
}

/** v4's response to a {@link FileRequest}: a file, or a body that has been read. */
export type StreamedResponse =
  | { readonly status: number; readonly file: FileResponse }
  | { readonly status: number; readonly file?: undefined; readonly response: UpstreamResponse };

/** In bytes. v4's response to an upload, or its error, is not read beyond. */
const LONGEST_TEXT = 1024 * 1024;

/** Passes a stream through and counts its bytes. @throws {HttpError} 400, in the stream, beyond `most` bytes */
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

/** The record of a file: how many bytes were streamed by the time that the record is written. */
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
 * Opens v4's file, whose bytes are counted as they pass, once its first byte has come: until then an error can take its
 * place.
 *
 * @param onBreak is called where v4 breaks it off later
 * @throws the error of a file that breaks off before its first byte
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
