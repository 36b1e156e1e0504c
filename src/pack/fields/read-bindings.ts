import type { SourceLocation } from "../../base/index.ts";
import type { Bindings } from "../../jsonata/index.ts";
import { createBindings, SCOPE_VARIABLES } from "../expressions/scope.ts";
import type { ReadContext } from "../translation-context.ts";
import { networkAddress as networkOf } from "../values/ip-address.ts";
import type { FieldContext } from "./field-context.ts";

/** Functions whose results only depend on their arguments. */
export const PURE_VARIABLES: ReadonlySet<string> = new Set(["values", "networkOf"]);

/** Variables whose values belong to one request. */
export const REQUEST_VARIABLES: ReadonlySet<string> = new Set([
  "scopesOf",
  ...SCOPE_VARIABLES.filter((name) => name !== "calls"),
]);

/** The variables of expressions over a v4 object. */
export const READ_VARIABLES = ["value", "calls", ...PURE_VARIABLES, ...REQUEST_VARIABLES];

/**
 * Creates the function that computes the variables for one object.
 *
 * @param variables The variables that the expression reads. The whole response is parsed only if it reads `$response`.
 */
export function createReadBindings(
  { lookup: values, scopesOf }: FieldContext,
  variables: ReadonlySet<string>,
  location: SourceLocation,
): (value: unknown, reading: ReadContext) => Bindings {
  const bind = (value: unknown, { calls }: ReadContext): Bindings => ({
    value,
    calls,
    values,
    networkOf,
    scopesOf,
  });
  const others = variables.difference(new Set(["calls"]));
  if (SCOPE_VARIABLES.every((name) => !others.has(name))) return bind;
  const bindScope = createBindings(others, location);
  return (value, reading) => ({ ...bind(value, reading), ...bindScope(reading) });
}
