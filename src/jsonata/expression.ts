/**
 * A JSONata expression behind one interface: callers do not need to know whether it is interpreted or compiled.
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
  /** The members of its input that it reads (`inputNames`). */
  readonly reads: InputNames;
  /** Variables that it needs: while one of them is empty, the result is `undefined` for every input. */
  readonly missingWithout: ReadonlySet<string>;
  /** Where the result is one variable unchanged, or else null or nothing. Only of compiled expressions. */
  readonly choice?: Choice;
  /** `compiled` returns results synchronously, `interpreted` returns promises. */
  readonly engine: "interpreted" | "compiled";
  /** The reason why the compiler could not compile it. */
  readonly fallback?: string;
  /** The generated JavaScript of a compiled expression. */
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

/** Whether an expression gives its variable. */
export interface Choice {
  /** Without the `$`. */
  readonly variable: string;
  /** Variables that the test reads. */
  readonly variables: ReadonlySet<string>;
  /** @throws {ExpressionError} when the evaluation fails. */
  isChosen(input: unknown, bindings: Bindings): boolean;
}

/** An expression does not parse, or its evaluation failed. `offset` counts characters from the start of its source. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly code = "AG_EXPRESSION_FAILED";
  /** JSONata's own code, e.g. `T2001`. */
  readonly jsonataCode: string;
  readonly offset: number;

  constructor(message: string, jsonataCode: string, offset: number) {
    super(message);
    this.jsonataCode = jsonataCode;
    this.offset = offset;
  }
}
