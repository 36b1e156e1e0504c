/** The response to a client as plain data. */
import type { Readable } from "node:stream";
import type { UpstreamErrorMeaning } from "../../pack/index.ts";

/** A file that is streamed from v4. */
export interface FileResponse {
  readonly type: string;
  /** In bytes, where v4 declares it. */
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
  /** Reason phrase where it is not the standard one. */
  readonly phrase?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: Buffer;
  /** In place of the body. */
  readonly file?: FileResponse;
  /**
   * Resolves when the record of a file is written, which is after its end: to the response that takes its place if the
   * record had to be durable and is not.
   */
  readonly recorded?: Promise<AlphaResponse | undefined>;
}

/** A status, a body, and headers that only this response has. */
export interface HandlerResult {
  readonly status: number;
  readonly body: ResponseBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The meaning of a result, whatever its status in the client's dialect is. */
export type ResultMeaning = "succeeded" | UpstreamErrorMeaning;

/** The end of a request: alpha's status, what it means, and the response as it is sent. */
export interface RequestOutcome {
  readonly status: number;
  readonly meaning: ResultMeaning;
  readonly response: AlphaResponse;
}
