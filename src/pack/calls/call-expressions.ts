/** The expressions of a call. */
import type { SourceLocation } from "../../base/index.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import { compileScoped, type Phase } from "../expressions/scope.ts";
import type { ReceivedResponse, Scope } from "../translation-context.ts";

/** Compiles the expressions of a call. */
export class CallExpressions {
  readonly #location: SourceLocation;
  readonly #phase: Phase;
  /** Whether an expression reads headers of responses. */
  readsHeaders = false;
  /** Whether an expression reads values of other calls. */
  readsCalls = false;

  /** @param phase the phase of the request in which the call is sent */
  constructor(location: SourceLocation, phase: Phase) {
    this.#location = location;
    this.#phase = phase;
  }

  /**
   * @param phase the phase in which the expression runs, if not that of the call
   * @param own additional variables for this expression
   */
  compile(source: string, keys: readonly string[], phase = this.#phase, own: readonly string[] = []) {
    const expression = compileScoped(source, this.#location.at(...keys), phase, own);
    this.readsHeaders ||= expression.variables.has("response_headers");
    this.readsCalls ||= expression.variables.has("calls");
    return expression;
  }

  /** Compiles an expression over the response of this call. */
  ofResponse(source: string, keys: readonly string[]) {
    const { evaluate } = this.compile(
      source,
      keys,
      this.#phase === "request" ? "early response" : "response",
    );
    return (response: ReceivedResponse, scope: Scope): MaybePromise<unknown> =>
      evaluate(response.json, { ...scope, response });
  }
}
