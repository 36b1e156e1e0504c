/** What is known of the types of fields. */
import type { ExampleDefinition } from "../../examples/example.ts";

/**
 * `holds`: all values that the upstream may have were tried. `no-counterexample`: none of the tried values breaks it.
 * `counterexample`: a value breaks it. `not-tested`: no response of the upstream could be tried.
 */
export type Verdict = "holds" | "no-counterexample" | "counterexample" | "not-tested";

/** A value of the upstream with which a client gets a value of another type. */
export interface Counterexample {
  /** `GET /books/:id` */
  readonly route: string;
  /** The call whose response has the value: `GET /items/{id}`. */
  readonly call: string;
  /** The smallest response that breaks the type. */
  readonly value: unknown;
  /** What the client gets: `undefined` for a missing member. */
  readonly actual: unknown;
  readonly expected: string;
  /** The golden case, which fails until the pack is mended. */
  readonly golden: ExampleDefinition;
}

/** The verdict on one field of an object, or on what a route has besides its object. */
export interface TypeResult {
  /** The object of the pack, or the route. */
  readonly subject: string;
  /** The field; empty for a route as a whole. */
  readonly field: string;
  readonly verdict: Verdict;
  readonly cases: number;
  /** Why a field is not tested; otherwise null. */
  readonly reason: string | null;
  readonly counterexample: Counterexample | null;
}
