/** What decides whether two answers to one request are the same. */
import type { Answer, Compared } from "../parity/comparison.ts";
import type { AlphaRequest } from "../pipeline/context.ts";
import type { Route } from "../mapping/compile/route.ts";

/** The answers of both services to one request, asked at the same moment. */
export interface Pair {
  readonly old: Answer;
  readonly new: Answer;
}

/** The request of a comparison. */
export interface ComparedRequest {
  readonly request: AlphaRequest;
  readonly route: Route;
  /** The client's filter header. */
  readonly filter: string | null;
}

/** What was found, without who asked. */
export type Finding = Pick<Compared, "result" | "reason" | "key" | "differences">;

/** Compares pairs of answers (`src/parity/`). */
export interface Judge {
  /** @returns what was found, or `unconfirmed`: the two differ, and are asked once more (rule 3) */
  compare(request: ComparedRequest, pair: Pair): Finding | "unconfirmed";
  /** Decides with a second pair. */
  confirm(request: ComparedRequest, first: Pair, second: Pair): Finding;
  /** Learns from two answers of the old service to the same request how it differs from itself (rule 4). */
  learn(request: ComparedRequest, first: Answer, second: Answer): void;
}
