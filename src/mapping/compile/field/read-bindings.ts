import type { Bindings } from "../../../jsonata/index.ts";
import type { ReadContext } from "../../translation-context.ts";
import { joinLines } from "../response-headers.ts";
import { networkAddress as networkOf } from "../ip-address.ts";
import type { FieldContext } from "./field-context.ts";

/** The variables of expressions over a v4 object. */
export const READ_VARIABLES = [
  "value",
  "related",
  "values",
  "networkOf",
  "request",
  "response",
  "response_headers",
  "scopesOf",
];

/** Functions whose results depend on their arguments alone. */
export const PURE_VARIABLES: ReadonlySet<string> = new Set(["values", "networkOf"]);

/**
 * Creates the function that gives the variables their values for one object.
 *
 * @param variables of the expression. Only if it reads `$response`, the response is parsed as a whole.
 */
export function createReadBindings(
  { lookup: values, scopesOf }: FieldContext,
  variables: ReadonlySet<string>,
): (value: unknown, reading: ReadContext) => Bindings {
  const bind = (value: unknown, { related, sentBody: request }: ReadContext): Bindings => ({
    value,
    related,
    request,
    values,
    networkOf,
    scopesOf,
  });
  if (variables.has("response_headers"))
    return (value, reading) => ({
      ...bind(value, reading),
      ...(variables.has("response") && { response: reading.response?.json }),
      response_headers: joinLines(reading.response?.headers ?? {}),
    });
  if (!variables.has("response")) return bind;
  return (value, reading) => ({ ...bind(value, reading), response: reading.response?.json });
}
