/**
 * A JSONata expression of a mapping pack, behind one interface: whoever evaluates one does not know
 * whether it is interpreted or compiled, and need not.
 */

import type { JsonText } from "../dialect/json/text.ts";
import type { InputNames } from "./input-names.ts";
import type { MaybePromise } from "./maybe-promise.ts";

/** Values by variable name, without the `$`. Functions may be bound too. */
export type Bindings = Readonly<Record<string, unknown>>;

export interface Expression {
  readonly source: string;
  /** Names of the variables that the expression reads and does not bind itself, without the `$`. */
  readonly variables: ReadonlySet<string>;
  /** The members of its input that it reads: an input of these alone gives the same. */
  readonly reads: InputNames;
  /** Variables without whose members it surely finds nothing, whatever its input is. */
  readonly missingWithout: ReadonlySet<string>;
  /** How a result comes about: `interpreted` answers with promises, `compiled` at once. */
  readonly engine: "interpreted" | "compiled";
  /** Why the expression is not compiled, where it was tried. */
  readonly fallback?: string;
  /** The JavaScript that a compiled expression runs as. */
  readonly code?: string;
  /**
   * Evaluates to plain JSON: ordinary arrays and objects that share nothing hidden with the engine;
   * `undefined` where JSONata finds nothing.
   *
   * @throws {ExpressionError} (or rejects with it) when the evaluation fails.
   */
  evaluate(input: unknown, bindings: Bindings): unknown;
  /** Evaluates to the JSON text of what {@link evaluate} gives; null where that is null. */
  print(input: unknown, bindings: Bindings): MaybePromise<JsonText>;
}

/** What is wrong with an expression, and where: `offset` counts characters from the start of its source. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly code: string;
  readonly offset: number;

  constructor(message: string, code: string, offset: number) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}
