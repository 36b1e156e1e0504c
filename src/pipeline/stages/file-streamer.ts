import { pipeline, Transform, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { printJson } from "../../dialect/json/parse.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { isSuccess } from "../../dialect/statuses.ts";
import type { FileUpstream, StreamResponse } from "../../upstream/file-client.ts";
import { toUpstreamError } from "../../upstream/upstream-error.ts";
import type { TranslationConfig } from "./build-response.ts";
import {
  asksPublicly,
  authorization,
  commonHeaders,
  ownShareRefusal,
  shareClient,
  toUpstreamResponse,
  updateTokenCache,
  type CallDependencies,
  type UpstreamResponse,
} from "./call-upstream.ts";
import {
  NOBODY,
  type AlphaRequest,
  type Credentials,
  type FileResponse,
  type RequestContext,
} from "../context.ts";
import type { ResolvedCredentials } from "./resolve-token.ts";

/** A call that carries a file. */
export interface UpstreamFileRequest {
  readonly method: string;
  readonly path: string;
  /** What is accepted of an answer. */
  readonly accept: string;
  /** The client's file, where it sends one. */
  readonly file:
    | { readonly headers: Readonly<Record<string, string>>; readonly stream: Readable }
    | undefined;
}

/** v4's refusal, or what goes with a success. */
export type StreamResult =
  | { readonly refused: UpstreamResponse }
  | { readonly file: FileResponse }
  | { readonly done: UpstreamResponse };

export type StreamUpstream = (call: UpstreamFileRequest, wantsFile: boolean) => Promise<StreamResult>;

/** Longer words of v4 are not read: nothing but a refusal is looked into. */
const MOST_WORDS = 1024 * 1024;

/** Lets a stream through, counting, and fails it beyond `most` bytes. */
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

const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** v4's words, whole. */
async function wordsOf({ status, headers, body }: StreamResponse): Promise<UpstreamResponse> {
  const limited = countBytes(MOST_WORDS, () => {});
  pipeline(body, limited, () => {});
  return toUpstreamResponse({
    status,
    headers,
    text: await text(limited).catch((error) => Promise.reject(toUpstreamError(error))),
    ms: 0,
  });
}

/** What is known of a file, when its record is kept. */
class Streamed {
  readonly #passed: { readonly in: number; readonly out: number };

  constructor(passed: { readonly in: number; readonly out: number }) {
    this.#passed = passed;
  }

  get text(): string {
    return printJson({ streamed: this.#passed });
  }
}

/** What the client did wrong, where a file did not get through for that; undefined where it is not the client's doing. */
function clientsFault(error: unknown, sends: boolean, rules: TranslationConfig): HttpError | undefined {
  if (error instanceof HttpError) return error;
  const { kind } = toUpstreamError(error);
  if (kind === "slow_client" && sends) return new HttpError(400, "The file took too long to arrive.");
  return ownShareRefusal(error, "files", rules);
}

/** Prepares the streamed call of one request. Its record knows how much went by, and nothing of what. */
export function createFileStreamer(
  request: AlphaRequest,
  presented: ResolvedCredentials,
  parts: CallDependencies & { readonly files: FileUpstream; readonly translation: TranslationConfig },
  notes: RequestContext,
): StreamUpstream {
  let common: Record<string, string> | undefined;

  async function carryAs(
    caller: Credentials,
    call: UpstreamFileRequest,
    wantsFile: boolean,
  ): Promise<StreamResult> {
    const { method, path, accept, file } = call;
    common ??= commonHeaders(request, notes);
    const who = authorization(caller, parts.dialect);
    const headers: Record<string, string> = { ...common, ...who, accept, ...file?.headers };
    const span = notes.span?.call(method, path);
    if (span) headers["traceparent"] = span.traceparent;
    const passed = (notes.streamedBytes = { in: 0, out: 0 });
    const started = performance.now();
    const sent = { method, path, filter: null, ...(file && { body: { streamed: passed } }) };
    try {
      const given = {
        method,
        path,
        headers,
        body: file?.stream,
        client: shareClient(request, presented, notes),
      };
      const answer = await parts.files.stream(given, request.signal);
      span?.end(answer.status);
      updateTokenCache(parts, caller, notes, answer);
      const made = { ...sent, status: answer.status, ms: performance.now() - started };
      if (!isSuccess(answer.status) || !wantsFile) {
        const came = await wordsOf(answer);
        notes.calls.push({ ...made, response: came });
        return came.success ? { done: came } : { refused: came };
      }
      notes.calls.push({ ...made, response: new Streamed(passed) });
      const stream = countBytes(Infinity, (count) => void (passed.out += count));
      pipeline(answer.body, stream, (error) => {
        if (error) notes.warnings.push(`v4 ${method} ${path}: the answer broke off, ${error.message}`);
      });
      const type = one(answer.headers["content-type"]) ?? "";
      const length = one(answer.headers["content-length"]);
      return { file: { type, length, coding: one(answer.headers["content-encoding"]), stream } };
    } catch (error) {
      span?.end(null);
      notes.calls.push({ ...sent, status: null, ms: performance.now() - started });
      const fault = toUpstreamError(error);
      if (!(error instanceof HttpError))
        notes.warnings.push(`v4 ${method} ${path}: ${fault.kind}, ${fault.message}`);
      throw clientsFault(error, file !== undefined, parts.translation) ?? fault;
    } finally {
      notes.upstreamMs += performance.now() - started;
    }
  }

  return async function carryV4(call, wantsFile) {
    const { credentials: caller } = presented;
    const came = await carryAs(caller, call, wantsFile);
    // A file that was sent is gone: its client has to send it again.
    if (call.file !== undefined || !("refused" in came)) return came;
    if (asksPublicly(notes, caller, call, came.refused.status)) return carryAs(NOBODY, call, wantsFile);
    const refused = came.refused.status === 401;
    const again = refused && (await presented.refreshAfter401(caller));
    return again ? carryAs(presented.credentials, call, wantsFile) : came;
  };
}
