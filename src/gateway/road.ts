import { finished } from "node:stream/promises";
import type { Pack } from "../mapping/pack.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { Turns } from "../tokens/turns.ts";
import type { FileUpstream } from "../upstream/stream.ts";
import type { Catalogs } from "../upstream/catalogs.ts";
import { Refusal } from "../dialect/refusal.ts";
import type { BrownOuts } from "../brown-outs/brown-outs.ts";
import { admit } from "./admit.ts";
import { makeAnswer, type AnswerStyle } from "./answer.ts";
import type { AnswerRules } from "./answer-back.ts";
import { brownOut } from "./brown-out.ts";
import { callsFor, v4Credentials, type CallParts } from "./call-v4.ts";
import { identify } from "./credentials.ts";
import { carriesFor } from "./carry-v4.ts";
import { beginNotes, type AlphaAnswer, type AlphaRequest, type FileAnswer, type Notes } from "./exchange.ts";
import { findRoute } from "./find-route.ts";
import { fulfil } from "./fulfil.ts";
import { createKeptReads } from "./kept-reads.ts";
import { meter } from "./meter.ts";
import type { Outcome } from "./record.ts";
import { refuse } from "./refuse.ts";
import { takeTurn } from "./take-turn.ts";
import { traceparentOf } from "./trace.ts";

/** The end of the road. */
interface Travelled {
  readonly status: number;
  readonly body: string | FileAnswer;
}

export interface RoadParts extends CallParts {
  readonly files: FileUpstream;
  readonly pack: Pack;
  readonly catalogs: Catalogs;
  readonly limits: RateLimits;
  readonly turns: Turns;
  readonly rules: AnswerRules;
  /** When alpha is switched off, and for whom. */
  readonly brownOuts: BrownOuts;
  readonly style: AnswerStyle;
  /** Keeps the record of a request; a promise where the answer must wait for it. */
  readonly record: (request: AlphaRequest, outcome: Outcome, notes: Notes) => void | Promise<void>;
  /** Hears of errors that nobody foresaw. */
  readonly onUnforeseen: (error: unknown, requestId: string) => void;
}

/** The alpha lane: from a client's request to its answer. It never throws. */
export type Road = (request: AlphaRequest) => Promise<AlphaAnswer>;

/**
 * The whole road of a request. Every stop is a function of its own file; what they refuse, and whatever else
 * goes wrong in one, becomes the answer in one place.
 */
export function buildRoad(parts: RoadParts): Road {
  const { pack, scopes, tokens, limits, catalogs, rules } = parts;
  const kept = createKeptReads();
  const limitedStatus = pack.dialect.statuses.rate_limited.alpha;

  /** From the first stop to the last: a success, or what a failure at any of them is answered with. */
  async function travelled(request: AlphaRequest, notes: Notes): Promise<Travelled> {
    try {
      const caller = identify(request, pack.dialect.alpha.scheme);
      notes.caller = caller;
      const found = await findRoute(request, pack);
      notes.target = found instanceof Refusal ? undefined : found;
      const known = caller.hash === undefined ? undefined : tokens.get(caller.hash);
      notes.facts = known instanceof Promise ? await known : known;
      await meter(request, caller, notes, { limits, limitedStatus });
      brownOut(notes, parts.brownOuts, pack.dialect.statuses.other);
      if (request.bodyRefusal) throw request.bodyRefusal;
      const target = admit(caller, found, scopes, notes.facts);
      admit(caller, found, scopes, await takeTurn(caller, target, notes, parts));
      await catalogs.refreshWith(v4Credentials(caller, parts.dialect.scheme));
      const owner = caller.hash;
      const calls = callsFor(request, caller, parts, notes, traceparentOf(request));
      const call = owner === undefined ? calls : kept.watching(owner, calls);
      const carry = carriesFor(request, caller, parts, notes, traceparentOf(request));
      const work = { request, target, pack, rules, catalogs, call, carry, kept, owner, notes };
      return { status: 200, body: await fulfil(work) };
    } catch (error) {
      return failed(error, request, notes);
    } finally {
      notes.learnt?.();
    }
  }

  function failed(error: unknown, request: AlphaRequest, notes: Notes): { status: number; body: string } {
    const refused = refuse(error, request.id, notes, rules.errors);
    if (refused.unforeseen) parts.onUnforeseen(error, request.id);
    return refused;
  }

  /** A file is over after its answer has begun: what the record is kept with is known then. */
  async function recordLater(request: AlphaRequest, outcome: Outcome, notes: Notes): Promise<void> {
    const { stream } = outcome.answer.file ?? {};
    if (stream) await finished(stream, { writable: false }).catch(() => {});
    try {
      await parts.record(request, outcome, notes);
    } catch (error) {
      parts.onUnforeseen(error, request.id);
    }
  }

  return async function travel(request) {
    const notes = beginNotes();
    const { status, body } = await travelled(request, notes);
    const answer = makeAnswer(request, { status, body }, parts.style, notes);
    if (answer.file) return { ...answer, recorded: recordLater(request, { status, answer }, notes) };
    try {
      await parts.record(request, { status, answer }, notes);
      return answer;
    } catch (error) {
      // The record was promised before the answer; without it there is none to give.
      return makeAnswer(request, failed(error, request, notes), parts.style, notes);
    }
  };
}
