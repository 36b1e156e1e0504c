import { messageOf } from "./messages.ts";

/**
 * A failed evaluation inside the engine. The calls it passes on its way out still move its position, as
 * JSONata's do: what fails inside a function is reported where the function was called.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: string;
  /** Characters to the end of the token at fault; 0 for unknown. */
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

/** Anything thrown during an evaluation as a failure: by the engine, by JavaScript, or by a bound function. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof RangeError && thrown.message.includes("call stack")) return new Failure("D1011");
  const { code = "unknown", jsonataCode = code, position = 0, message } = thrown as Thrown;
  return new Failure(jsonataCode, position, message ?? messageOf(jsonataCode));
}
