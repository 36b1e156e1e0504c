/** Conditions on requests and responses, and values for names in braces, as expressions. */
import type { SourceLocation } from "../../base/index.ts";
import { ValidationError } from "../errors/http-error.ts";
import { ExpressionError, type MaybePromise, thenMaybe, mapMaybe } from "../../jsonata/index.ts";
import { failureAsValue } from "./compile-expression.ts";
import { compileScoped, type Phase } from "./scope.ts";
import type { Scope } from "../translation-context.ts";

const INVALID_BODY = "The body has a value that is not valid.";

/** A condition on a value of a request. */
export type ScopedCondition = (value: unknown, scope: Scope) => MaybePromise<boolean>;

/** Compiles a condition over the variables of a request. Returns undefined if there is no source. */
export function compileScopedCondition(
  source: string | undefined,
  location: SourceLocation,
  phase: Phase,
): ScopedCondition | undefined {
  if (source === undefined) return undefined;
  const { evaluate } = compileScoped(source, location, phase);
  return (value, scope) => thenMaybe(evaluate(value, scope), Boolean);
}

/** Compiles a condition on a client's body. The function throws {HttpError} 400 if the condition fails on a body. */
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

/** Returns the value of one name in braces. */
type NamedValue = (input: unknown, scope: Scope) => MaybePromise<unknown>;

/** Returns the values of names in braces. @throws {ExpressionError} */
type NamedValues = (input: unknown, scope: Scope) => MaybePromise<Readonly<Record<string, unknown>>>;

/** Compiles the values of names in braces. @param compile compiles the expression of a name */
export function compileNamedValues(
  definition: Readonly<Record<string, string>>,
  compile: (source: string, name: string) => { readonly evaluate: NamedValue },
): NamedValues {
  const compiled = Object.entries(definition).map(
    ([name, source]) => [name, compile(source, name).evaluate] as const,
  );
  if (compiled.length === 0) return () => ({});
  return (input, scope) =>
    thenMaybe(
      mapMaybe(compiled, ([, evaluate]) => evaluate(input, scope)),
      (found) => Object.fromEntries(compiled.map(([name], index) => [name, found[index]])),
    );
}
