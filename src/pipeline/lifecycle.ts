import { finished } from "node:stream/promises";
import { CLIENT_GONE } from "../audit/record.ts";
import type { ErrorNames } from "../dialect/errors.ts";
import type { RequestSpan } from "../observability/tracing/tracing.ts";
import { finalizeResponse, type ResponseDefaults } from "./finalize-response.ts";
import {
  createContext,
  type AlphaResponse,
  type AlphaRequest,
  type FileResponse,
  type RequestContext,
} from "./context.ts";
import type { RequestOutcome } from "./stages/audit-record.ts";
import { toErrorResponse } from "./to-error-response.ts";

/** From a client's request to its answer. It never throws. */
export type AlphaHandler = (request: AlphaRequest) => Promise<AlphaResponse>;

/** What a road makes of a request: a status, the JSON of the body or a file, and headers of its own. */
export interface HandlerResult {
  readonly status: number;
  readonly body: string | Buffer | FileResponse;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LifecycleDependencies {
  readonly translation: { readonly errors: ErrorNames };
  readonly style: ResponseDefaults;
  /** Begins its span; undefined where no traces are wanted. */
  readonly startSpan?: ((request: AlphaRequest) => RequestSpan) | undefined;
  /** Keeps the record of a request; a promise where the answer must wait for it. Its failure is told by itself. */
  readonly record: (
    request: AlphaRequest,
    outcome: RequestOutcome,
    notes: RequestContext,
  ) => void | Promise<void>;
  /** Hears of errors that nobody foresaw. */
  readonly onUnexpectedError: (error: unknown, request: AlphaRequest, notes: RequestContext) => void;
}

/** Both ends of every road: what goes wrong on the way becomes the answer in one place, and every request has its record. */
export function withLifecycle(
  work: (request: AlphaRequest, notes: RequestContext) => Promise<HandlerResult>,
  parts: LifecycleDependencies,
): AlphaHandler {
  function failed(error: unknown, request: AlphaRequest, notes: RequestContext): HandlerResult {
    const refused = toErrorResponse(error, request.id, notes, parts.translation.errors);
    if (refused.isUnexpected) parts.onUnexpectedError(error, request, notes);
    return refused;
  }

  /** A file is over after its answer has begun: what the record is kept with is known then. @throws where it can't be. */
  async function recordLater(
    request: AlphaRequest,
    outcome: RequestOutcome,
    notes: RequestContext,
  ): Promise<void> {
    const { stream } = outcome.answer.file ?? {};
    let isGone = false;
    if (stream)
      await finished(stream, { writable: false }).catch(() => {
        // Where v4 breaks it off, the client's connection is only about to end.
        isGone = request.signal.aborted;
      });
    try {
      await parts.record(request, isGone ? { ...outcome, status: CLIENT_GONE } : outcome, notes);
    } catch (error) {
      failed(error, request, notes);
      throw error;
    }
  }

  return async function travel(request) {
    const notes = createContext(request.startedAt);
    notes.span = parts.startSpan?.(request);
    const made = await work(request, notes)
      .catch((error: unknown) => failed(error, request, notes))
      .finally(() => notes.releaseTokenLock?.());
    const answer = finalizeResponse(request, made, parts.style, notes);
    const isGone = request.signal.aborted && made.status >= 500;
    const outcome = { status: isGone ? CLIENT_GONE : made.status, answer };
    if (answer.file) return { ...answer, recorded: recordLater(request, outcome, notes) };
    try {
      await parts.record(request, outcome, notes);
      return answer;
    } catch (error) {
      // The record was promised before the answer; without it there is none to give.
      return finalizeResponse(request, failed(error, request, notes), parts.style, notes);
    }
  };
}
