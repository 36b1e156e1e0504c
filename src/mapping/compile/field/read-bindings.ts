import type { Bindings } from "../../../jsonata/index.ts";
import type { Query } from "../../../dialect/query.ts";
import type { ClientHead, JsonObject, ReadContext } from "../../translation-context.ts";
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
  "query",
  "headers",
];

/** Functions whose results depend on their arguments alone. */
export const PURE_VARIABLES: ReadonlySet<string> = new Set(["values", "networkOf"]);

/** Headers that have the client's credentials, wherever a pack has them. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization", "cookie"]);

/** The parameters of a query: a text, or a list where one comes several times. Made once for all rows of a list. */
const queries = new WeakMap<Query, JsonObject>();
export function queryOf({ query }: ClientHead): JsonObject {
  const made = queries.get(query);
  if (made) return made;
  const values = Object.fromEntries(
    [...query].map(([name, texts]) => [name, texts.length === 1 ? texts[0] : texts]),
  );
  queries.set(query, values);
  return values;
}

/** The headers of a request by their lower-case names, without those that have its credentials. */
const headersByRequest = new WeakMap<ClientHead["request"], JsonObject>();
function headersOf({ request }: ClientHead, tokenHeaders: readonly string[]): JsonObject {
  const made = headersByRequest.get(request);
  if (made) return made;
  const values = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, lines]) =>
      lines && !CREDENTIALS.has(name) && !tokenHeaders.includes(name) ? [[name, lines.join(", ")]] : [],
    ),
  );
  headersByRequest.set(request, values);
  return values;
}

/** Variables that only some expressions read. Each is made if the expression reads it. */
const makersOf = ({
  tokenHeaders,
}: FieldContext): Readonly<Record<string, (reading: ReadContext) => unknown>> => ({
  query: ({ client }) => client && queryOf(client),
  headers: ({ client }) => client && headersOf(client, tokenHeaders),
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
