import type { Origin } from "../../base/index.ts";
import { ExpressionError } from "../language/expression.ts";
import { messageOf } from "./error-messages.ts";

/**
 * An evaluation failed. As in JSONata, an error inside a function is reported at the position of the call, so each call
 * on the stack replaces the position.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: string;
  /** Number of characters up to the end of the token that failed; 0 if unknown. */
  position: number;

  constructor(code: string, position = 0, message: string = messageOf(code)) {
    super(message);
    this.code = code;
    this.position = position;
  }
}

/** An error in the form of jsonata: a plain object. */
interface Thrown {
  readonly message?: string;
  readonly code?: string;
  readonly jsonataCode?: string;
  readonly position?: number;
  /** The name of the function that was called. */
  readonly token?: unknown;
}

/** Turns anything that is thrown during an evaluation into a {@link Failure}. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof RangeError && thrown.message.includes("call stack")) return new Failure("D1011");
  const { code = "unknown", jsonataCode = code, position = 0, message, token } = thrown as Thrown;
  if (code === "D1012") return new Failure(code, position);
  // In jsonata, `$replace` calls its replacement function without a check.
  if (thrown instanceof TypeError && token === "replace") return new Failure("T1006", position);
  return new Failure(jsonataCode, position, message ?? messageOf(jsonataCode));
}

/** The error of an evaluation, or of a source. jsonata counts positions to the end of the offending token. */
export function toExpressionError(thrown: unknown, origin?: Origin): ExpressionError {
  const { message, code, position } = asFailure(thrown);
  return new ExpressionError(message, code, Math.max(0, position - 1), origin);
}
