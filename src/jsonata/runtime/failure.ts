import { messageOf } from "./error-messages.ts";

/**
 * An evaluation failed. As in JSONata, an error inside a function is reported at the position of the call, so each call
 * on the stack replaces the position.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: string;
  /** Characters up to the end of the token that failed; 0 if unknown. */
  position: number;

  constructor(code: string, position = 0, message: string = messageOf(code)) {
    super(message);
    this.code = code;
    this.position = position;
  }
}

interface Thrown {
  readonly message?: string;
  readonly code?: string;
  readonly jsonataCode?: string;
  readonly position?: number;
}

/** Turns anything that is thrown during an evaluation into a {@link Failure}. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof RangeError && thrown.message.includes("call stack")) return new Failure("D1011");
  const { code = "unknown", jsonataCode = code, position = 0, message } = thrown as Thrown;
  return new Failure(jsonataCode, position, message ?? messageOf(jsonataCode));
}
