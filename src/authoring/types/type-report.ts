/** The result of the check of types for the fields of a pack. */
import type { ExampleDefinition } from "../examples/example.ts";

/** The smallest answer of the upstream that gives a client a value that its description does not allow. */
export interface Counterexample {
  /** The client's route, and the operation of the upstream. */
  readonly route: string;
  readonly operation: string;
  /** The answer of the upstream. */
  readonly answer: unknown;
  /** The client's value; undefined for a member that is missing. */
  readonly actual: unknown;
  /** The described type, in words. */
  readonly expected: string;
  /** The golden case of it, which fails until the pack is mended. */
  readonly golden: ExampleDefinition;
}

/** The result for a field: `book.title`, or `GET /books page` outside of objects. */
export interface FieldVerdict {
  readonly field: string;
  /** The object that has it, which names the folder of its golden cases. */
  readonly object: string;
  readonly routes: readonly string[];
  /** `holds`: all values that the upstream can have were tried. */
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
