/** The response to a client as plain data. */
import type { Readable } from "node:stream";
import type { UpstreamErrorMeaning } from "../../pack/index.ts";

/** A file that is streamed from v4. */
export interface FileResponse {
  readonly type: string;
  /** Bytes, if v4 declares them. */
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
  /** JSON. */
  readonly body: Buffer;
  /** Replaces the body. */
  readonly file?: FileResponse;
  /**
   * Resolves when the record of a file is written, after its end. The value is the response that replaces it, if the
   * record had to be durable and is not.
   */
  readonly recorded?: Promise<AlphaResponse | undefined>;
}

/** A status, a body, and additional headers. */
export interface HandlerResult {
  readonly status: number;
  readonly body: ResponseBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The meaning of a result, independent of its status in the client's dialect. */
export type ResultMeaning = "succeeded" | UpstreamErrorMeaning;

/** The end of a request: alpha's status, its meaning, and the response as it is sent. */
export interface RequestOutcome {
  readonly status: number;
  readonly meaning: ResultMeaning;
  readonly response: AlphaResponse;
}
