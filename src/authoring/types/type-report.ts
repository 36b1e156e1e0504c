/** The result of the check of types for the fields of a pack. */
import type { ExampleDefinition } from "../examples/example.ts";

/** The smallest response of the upstream that results in a value that the client's description does not allow. */
export interface Counterexample {
  /** The client's route, and the operation of the upstream. */
  readonly route: string;
  readonly operation: string;
  /** The response of the upstream. */
  readonly answer: unknown;
  /** The client's value; undefined for a missing member. */
  readonly actual: unknown;
  /** The described type, in words. */
  readonly expected: string;
  /** The golden case for it, which fails until the pack is corrected. */
  readonly golden: ExampleDefinition;
}

/** The result for a field: `book.title`, or `GET /books page` outside of objects. */
export interface FieldVerdict {
  readonly field: string;
  /** The object that contains the field. It is the name of the folder for its golden cases. */
  readonly object: string;
  readonly routes: readonly string[];
  /** `holds`: all possible values of the upstream were tried. */
  readonly verdict: "holds" | "no counterexample" | "counterexample";
  readonly cases: number;
  readonly counterexample?: Counterexample;
}

export interface TypeReport {
  readonly cases: number;
  readonly fields: readonly FieldVerdict[];
  /** Routes and patterns that could not be tried, each with the reason. */
  readonly untested: readonly string[];
}
