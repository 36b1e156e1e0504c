import type { JsonText, Origin } from "../../base/index.ts";
import type { InputNames } from "./input-names.ts";
import type { MaybePromise } from "./maybe-promise.ts";

/** Values by variable name, without the `$`. Values may be functions. */
export type Bindings = Readonly<Record<string, unknown>>;

/** A JSONata expression, compiled or interpreted. Both have the same interface and the same results. */
export interface Expression {
  readonly source: string;
  /** The location of the expression; undefined if it is not in a file. */
  readonly origin: Origin | undefined;
  /** Names of the variables that the expression reads and does not bind itself, without the `$`. */
  readonly variables: ReadonlySet<string>;
  /** The members of the input that the expression reads. An input with only these members has the same result. */
  readonly inputNames: InputNames;
  /** Variables that the expression requires: if one of them is an empty object, the result is `undefined` for every input. */
  readonly requiredVariables: ReadonlySet<string>;
  /** Set if the result is always one unchanged variable, null or undefined. Only compiled expressions have it. */
  readonly choice?: Choice;
  /** `compiled` returns results synchronously, `interpreted` returns promises. */
  readonly engine: "interpreted" | "compiled";
  /** The reason why the compiler does not support the expression. */
  readonly fallback?: string;
  /** The generated JavaScript of a compiled expression. */
  readonly code?: string;
  /**
   * Evaluates to plain JSON: ordinary arrays and objects without hidden marks of the engine. The result is `undefined`
   * if JSONata finds nothing.
   *
   * @throws {ExpressionError} If the evaluation fails. An interpreted expression rejects with it.
   */
  evaluate(input: unknown, bindings: Bindings): unknown;
  /** Evaluates to the JSON text of the result of {@link evaluate}; to null if the result is null. */
  print(input: unknown, bindings: Bindings): MaybePromise<JsonText>;
}

/** Tests whether the result of an expression is its variable. */
export interface Choice {
  /** The name, without the `$`. */
  readonly variable: string;
  /** Variables that the test reads. */
  readonly variables: ReadonlySet<string>;
  /** Whether the result is the variable. @throws {ExpressionError} If the evaluation fails. */
  isChosen(input: unknown, bindings: Bindings): boolean;
}

const describeOrigin = ({ place, path }: Origin): string => `${place}: ${path}`;

/** An expression does not parse, or its evaluation failed. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly code = "AG_EXPRESSION_FAILED";
  /** JSONata's own code, e.g. `T2001`. */
  readonly jsonataCode: string;
  /** The number of characters before the error in a source that does not parse; 0 for an evaluation. */
  readonly offset: number;
  /** The location of the expression; undefined if it is not in a file. */
  readonly origin: Origin | undefined;
  readonly #reason: string;

  constructor(reason: string, jsonataCode: string, offset: number, origin?: Origin, user?: Origin) {
    const suffix = user ? ` (for ${describeOrigin(user)})` : "";
    super(origin ? `${describeOrigin(origin)}${suffix}: ${reason}` : reason);
    this.#reason = reason;
    this.jsonataCode = jsonataCode;
    this.offset = offset;
    this.origin = origin && { ...origin, field: user?.field ?? origin.field };
  }

  /** Returns the same error for an expression that several fields share. It contains the field for which it was evaluated. */
  usedBy(user: Origin): ExpressionError {
    return new ExpressionError(this.#reason, this.jsonataCode, this.offset, this.origin, user);
  }
}
