/** Values of names in braces that expressions make: those of a call, and those of all paths of a route. */
import { mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { Scope } from "../translation-context.ts";

/** Returns the value of one name in braces. */
type NamedValue = (input: unknown, scope: Scope) => MaybePromise<unknown>;

/** Returns the values of names in braces. @throws {ExpressionError} */
export type NamedValues = (input: unknown, scope: Scope) => MaybePromise<Readonly<Record<string, unknown>>>;

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
