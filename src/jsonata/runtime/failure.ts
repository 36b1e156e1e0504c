import type { Origin } from "../../base/index.ts";
import { ExpressionError } from "../language/expression.ts";
import { messageOf } from "./error-messages.ts";

/** An evaluation failed. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: string;

  constructor(code: string, message: string = messageOf(code)) {
    super(message);
    this.code = code;
  }
}

/** An error in the form of jsonata: a plain object. */
interface Thrown {
  readonly message?: string;
  readonly code?: string;
  readonly jsonataCode?: string;
  /** The name of the function that was called. */
  readonly token?: unknown;
}

/** Turns anything that is thrown during an evaluation into a {@link Failure}. */
function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof RangeError && thrown.message.includes("call stack")) return new Failure("D1011");
  const { code = "unknown", jsonataCode = code, message, token } = thrown as Thrown;
  if (code === "D1012") return new Failure(code);
  // In jsonata, `$replace` calls its replacement function without a check.
  if (thrown instanceof TypeError && token === "replace") return new Failure("T1006");
  return new Failure(jsonataCode, message);
}

/** The error of an evaluation, or of a source. Only an error of a source has an offset. */
export function toExpressionError(thrown: unknown, origin?: Origin, offset = 0): ExpressionError {
  const { message, code } = asFailure(thrown);
  return new ExpressionError(message, code, offset, origin);
}
