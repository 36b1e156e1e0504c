/** The expressions of a call. */
import type { SourceLocation } from "../../base/index.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import { compileScoped, type Phase } from "../expressions/scope.ts";
import type { ReceivedResponse, Scope } from "../translation-context.ts";

export class CallExpressions {
  readonly #location: SourceLocation;
  readonly #phase: Phase;
  readsHeaders = false;
  readsCalls = false;

  constructor(location: SourceLocation, phase: Phase) {
    this.#location = location;
    this.#phase = phase;
  }

  compile(source: string, keys: readonly string[], phase = this.#phase, own: readonly string[] = []) {
    const expression = compileScoped(source, this.#location.at(...keys), phase, own);
    this.readsHeaders ||= expression.variables.has("response_headers");
    this.readsCalls ||= expression.variables.has("calls");
    return expression;
  }

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
