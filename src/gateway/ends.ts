import { finished } from "node:stream/promises";
import { CLIENT_GONE } from "../audit/record.ts";
import type { ErrorNames } from "../dialect/errors.ts";
import type { RequestSpan } from "../tracing/span.ts";
import { makeAnswer, type AnswerStyle } from "./answer.ts";
import { beginNotes, type AlphaAnswer, type AlphaRequest, type FileAnswer, type Notes } from "./exchange.ts";
import type { Outcome } from "./record.ts";
import { refuse } from "./refuse.ts";

/** From a client's request to its answer. It never throws. */
export type Road = (request: AlphaRequest) => Promise<AlphaAnswer>;

/** What a road makes of a request: a status, the JSON of the body or a file, and headers of its own. */
export interface Made {
  readonly status: number;
  readonly body: string | Buffer | FileAnswer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EndParts {
  readonly rules: { readonly errors: ErrorNames };
  readonly style: AnswerStyle;
  /** Begins its span; undefined where no traces are wanted. */
  readonly beginSpan?: ((request: AlphaRequest) => RequestSpan) | undefined;
  /** Keeps the record of a request; a promise where the answer must wait for it. Its failure is told by itself. */
  readonly record: (request: AlphaRequest, outcome: Outcome, notes: Notes) => void | Promise<void>;
  /** Hears of errors that nobody foresaw. */
  readonly onUnforeseen: (error: unknown, request: AlphaRequest, notes: Notes) => void;
}

/** Both ends of every road: what goes wrong on the way becomes the answer in one place, and every request has its record. */
export function withEnds(
  work: (request: AlphaRequest, notes: Notes) => Promise<Made>,
  parts: EndParts,
): Road {
  function failed(error: unknown, request: AlphaRequest, notes: Notes): Made {
    const refused = refuse(error, request.id, notes, parts.rules.errors);
    if (refused.unforeseen) parts.onUnforeseen(error, request, notes);
    return refused;
  }

  /** A file is over after its answer has begun: what the record is kept with is known then. @throws where it can't be. */
  async function recordLater(request: AlphaRequest, outcome: Outcome, notes: Notes): Promise<void> {
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
    const notes = beginNotes();
    notes.span = parts.beginSpan?.(request);
    const made = await work(request, notes)
      .catch((error: unknown) => failed(error, request, notes))
      .finally(() => notes.learnt?.());
    const answer = makeAnswer(request, made, parts.style, notes);
    const isGone = request.signal.aborted && made.status >= 500;
    const outcome = { status: isGone ? CLIENT_GONE : made.status, answer };
    if (answer.file) return { ...answer, recorded: recordLater(request, outcome, notes) };
    try {
      await parts.record(request, outcome, notes);
      return answer;
    } catch (error) {
      // The record was promised before the answer; without it there is none to give.
      return makeAnswer(request, failed(error, request, notes), parts.style, notes);
    }
  };
}
