/** The response to a client as plain data. */
import type { Readable } from "node:stream";
import type { UpstreamErrorMeaning } from "../../pack/index.ts";

export interface FileResponse {
  readonly type: string;
  /** Number of bytes, if v4 declares it. */
  readonly length: string | undefined;
  readonly coding: string | undefined;
  readonly stream: Readable;
}

/** JSON text, or a file. */
export type ResponseBody = string | Buffer | FileResponse;

export interface AlphaResponse {
  readonly status: number;
  /** Reason phrase, if it differs from the standard one. */
  readonly phrase?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly file?: FileResponse;
  /**
   * Resolves when the record of a file is written, after the file's end. The value is the response that replaces the
   * file, if the record had to be durable and is not.
   */
  readonly recorded?: Promise<AlphaResponse | undefined>;
}

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
