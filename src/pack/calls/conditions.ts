/** Conditions on requests and responses, as expressions. */
import type { SourceLocation } from "../../base/index.ts";
import { ValidationError } from "../errors/http-error.ts";
import { ExpressionError, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { failureAsValue } from "../load/compile-expression.ts";
import { compileScoped, type Phase } from "./scope.ts";
import type { Scope } from "../translation-context.ts";

const INVALID_BODY = "The body has a value that is not valid.";

/** Whether something holds for a value of a request. */
export type ScopedCondition = (value: unknown, scope: Scope) => MaybePromise<boolean>;

/** Compiles a condition that reads what is known of a request; returns undefined if there is no source. */
export function compileScopedCondition(
  source: string | undefined,
  location: SourceLocation,
  phase: Phase,
): ScopedCondition | undefined {
  if (source === undefined) return undefined;
  const { evaluate } = compileScoped(source, location, phase);
  return (value, scope) => thenMaybe(evaluate(value, scope), Boolean);
}

/** Compiles a condition on a client's body. The function throws {HttpError} 400 for a body on which it fails. */
export function compileBodyCondition(
  source: string | undefined,
  location: SourceLocation,
  phase: Phase,
): ScopedCondition | undefined {
  const holds = compileScopedCondition(source, location, phase);
  return (
    holds &&
    ((body, scope) =>
      thenMaybe(
        failureAsValue(() => holds(body, scope)),
        (result) => {
          if (result instanceof ExpressionError)
            throw new ValidationError([{ reason: INVALID_BODY, cause: result }]);
          return result;
        },
      ))
  );
}
