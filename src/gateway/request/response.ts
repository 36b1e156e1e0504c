/** The response to a client as plain data. */
import type { Readable } from "node:stream";
import type { UpstreamErrorMeaning } from "../../pack/index.ts";

/** A file that is streamed from v4. */
export interface FileResponse {
  readonly type: string;
  /** Number of bytes, if v4 declares it. */
  readonly length: string | undefined;
  /** v4's content coding. */
  readonly coding: string | undefined;
  readonly stream: Readable;
}

/** JSON text, or a file. */
export type ResponseBody = string | Buffer | FileResponse;

/** The response to a client. */
export interface AlphaResponse {
  readonly status: number;
  /** Reason phrase, if it differs from the standard one. */
  readonly phrase?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless `isText` is set. */
  readonly body: Buffer;
  /** Whether the body is no JSON: a text of the route's `text`, or a script with JSON as the argument of a function. */
  readonly isText?: boolean;
  /** The file that replaces the body. */
  readonly file?: FileResponse;
  /**
   * Resolves when the record of a file is written, after the file's end. The value is the response that replaces the
   * file, if the record had to be durable and is not.
   */
  readonly recorded?: Promise<AlphaResponse | undefined>;
}

/** A status, a body, and additional headers. */
export interface HandlerResult {
  readonly status: number;
  readonly body: ResponseBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The meaning of a result, regardless of its status in the client's dialect. */
export type ResultMeaning = "succeeded" | UpstreamErrorMeaning;

/** The end of a request: alpha's status, its meaning, and the response. */
export interface RequestOutcome {
  readonly status: number;
  readonly meaning: ResultMeaning;
  readonly response: AlphaResponse;
}
