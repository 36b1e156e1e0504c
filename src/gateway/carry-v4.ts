import { pipeline, Transform, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { printJson } from "../dialect/json.ts";
import { Refusal } from "../dialect/refusal.ts";
import { isSuccess } from "../dialect/statuses.ts";
import type { FileUpstream, V4FileAnswer } from "../upstream/stream.ts";
import { upstreamFault } from "../upstream/fault.ts";
import { NoConnection, type Client } from "../upstream/shares.ts";
import { network } from "../limits/network.ts";
import type { AnswerRules } from "./answer-back.ts";
import {
  asksPublicly,
  authorization,
  commonHeaders,
  incoming,
  learn,
  type CallParts,
  type Incoming,
} from "./call-v4.ts";
import { NOBODY, type AlphaRequest, type Caller, type FileAnswer, type Notes } from "./exchange.ts";
import type { Presented } from "./present.ts";

/** A call that carries a file. */
export interface OutgoingFile {
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
export type CarriedBack =
  | { readonly refused: Incoming }
  | { readonly file: FileAnswer }
  | { readonly done: Incoming };

export type CarryV4 = (call: OutgoingFile, wantsFile: boolean) => Promise<CarriedBack>;

/** Longer words of v4 are not read: nothing but a refusal is looked into. */
const MOST_WORDS = 1024 * 1024;

/** Lets a stream through, counting, and fails it beyond `most` bytes. */
export function counted(most: number, onBytes: (count: number) => void): Transform {
  let left = most;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) return done(new Refusal(400, "The body is too large."));
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
}

const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** v4's words, whole. */
async function wordsOf({ status, headers, body }: V4FileAnswer): Promise<Incoming> {
  const limited = counted(MOST_WORDS, () => {});
  pipeline(body, limited, () => {});
  return incoming({
    status,
    headers,
    text: await text(limited).catch((error) => Promise.reject(upstreamFault(error))),
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
function clientsFault(error: unknown, sends: boolean, { statuses }: AnswerRules): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const { kind } = upstreamFault(error);
  if (kind === "slow_client" && sends) return new Refusal(400, "The file took too long to arrive.");
  if (error instanceof NoConnection && error.own)
    return new Refusal(statuses.rate_limited.alpha, "Too many files at the same time. Try again later.");
  return undefined;
}

/** Prepares the streamed call of one request. Its record knows how much went by, and nothing of what. */
export function carriesFor(
  request: AlphaRequest,
  presented: Presented,
  parts: CallParts & { readonly files: FileUpstream; readonly rules: AnswerRules },
  notes: Notes,
): CarryV4 {
  let common: Record<string, string> | undefined;
  const client = (): Client => ({
    token: notes.caller?.hash,
    address: network(request.address),
    known: notes.facts?.refused === false,
  });

  async function carryAs(caller: Caller, call: OutgoingFile, wantsFile: boolean): Promise<CarriedBack> {
    const { method, path, accept, file } = call;
    common ??= commonHeaders(request, notes);
    const who = authorization(caller, parts.dialect);
    const headers: Record<string, string> = { ...common, ...who, accept, ...file?.headers };
    const span = notes.span?.call(method, path);
    if (span) headers["traceparent"] = span.traceparent;
    const passed = (notes.carried = { in: 0, out: 0 });
    const started = performance.now();
    const sent = { method, path, filter: null, ...(file && { body: { streamed: passed } }) };
    try {
      const given = { method, path, headers, body: file?.stream, client: client() };
      const answer = await parts.files.stream(given, request.signal);
      span?.end(answer.status);
      learn(parts, caller, notes, answer);
      const made = { ...sent, status: answer.status, ms: performance.now() - started };
      if (!isSuccess(answer.status) || !wantsFile) {
        const came = await wordsOf(answer);
        notes.calls.push({ ...made, came });
        return came.success ? { done: came } : { refused: came };
      }
      notes.calls.push({ ...made, came: new Streamed(passed) });
      const stream = counted(Infinity, (count) => void (passed.out += count));
      pipeline(answer.body, stream, (error) => {
        if (error) notes.warnings.push(`v4 ${method} ${path}: the answer broke off, ${error.message}`);
      });
      const type = one(answer.headers["content-type"]) ?? "";
      const length = one(answer.headers["content-length"]);
      return { file: { type, length, coding: one(answer.headers["content-encoding"]), stream } };
    } catch (error) {
      span?.end(null);
      notes.calls.push({ ...sent, status: null, ms: performance.now() - started });
      const fault = upstreamFault(error);
      if (!(error instanceof Refusal))
        notes.warnings.push(`v4 ${method} ${path}: ${fault.kind}, ${fault.message}`);
      throw clientsFault(error, file !== undefined, parts.rules) ?? fault;
    } finally {
      notes.upstreamMs += performance.now() - started;
    }
  }

  return async function carryV4(call, wantsFile) {
    const { caller } = presented;
    const came = await carryAs(caller, call, wantsFile);
    // A file that was sent is gone: its client has to send it again.
    if (call.file !== undefined || !("refused" in came)) return came;
    if (asksPublicly(notes, caller, call, came.refused.status)) return carryAs(NOBODY, call, wantsFile);
    const refused = came.refused.status === 401;
    const again = refused && (await presented.replace(caller));
    return again ? carryAs(presented.caller, call, wantsFile) : came;
  };
}
