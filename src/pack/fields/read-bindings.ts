import type { Bindings } from "../../jsonata/index.ts";
import type { ReadContext } from "../translation-context.ts";
import { headersOf, queryOf } from "../headers/client-head.ts";
import { joinLines } from "../headers/response-headers.ts";
import { networkAddress as networkOf } from "./ip-address.ts";
import type { FieldContext } from "./field-context.ts";

/** Functions whose results depend on their arguments alone. */
export const PURE_VARIABLES: ReadonlySet<string> = new Set(["values", "networkOf"]);

/** Variables whose values are those of one request. */
export const REQUEST_VARIABLES: ReadonlySet<string> = new Set([
  "request",
  "response",
  "response_headers",
  "scopesOf",
  "query",
  "headers",
  "path",
]);

/** The variables of expressions over a v4 object. */
export const READ_VARIABLES = ["value", "related", ...PURE_VARIABLES, ...REQUEST_VARIABLES];

/** Variables that only some expressions read. Each is made if the expression reads it. */
const makersOf = ({
  tokenHeaders,
}: FieldContext): Readonly<Record<string, (reading: ReadContext) => unknown>> => ({
  query: ({ client }) => client && queryOf(client),
  headers: ({ client }) => client && headersOf(client, tokenHeaders),
  path: ({ client }) => client?.match.parameters,
  response: ({ response }) => response?.json,
  response_headers: ({ response }) => joinLines(response?.headers ?? {}),
});

/**
 * Creates the function that gives the variables their values for one object.
 *
 * @param variables Those that the expression reads. Only if it reads `$response`, the response is parsed as a whole.
 */
export function createReadBindings(
  context: FieldContext,
  variables: ReadonlySet<string>,
): (value: unknown, reading: ReadContext) => Bindings {
  const { lookup: values, scopesOf } = context;
  const makers = Object.entries(makersOf(context)).filter(([name]) => variables.has(name));
  const bind = (value: unknown, { related, sentBody: request }: ReadContext): Bindings => ({
    value,
    related,
    request,
    values,
    networkOf,
    scopesOf,
  });
  if (makers.length === 0) return bind;
  return (value, reading) => ({
    ...bind(value, reading),
    ...Object.fromEntries(makers.map(([name, make]) => [name, make(reading)])),
  });
}
