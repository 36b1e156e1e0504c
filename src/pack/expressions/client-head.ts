/** `$query`, `$headers` and `$response_headers`: the heads of a request and its response, for expressions. */
import type { Query } from "../paths/query.ts";
import type { ClientHead, JsonObject, ReceivedHeaders } from "../translation-context.ts";

/** Headers that contain the client's credentials, in any pack. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization", "cookie"]);

/** The parameters of a query: a text, or a list if a parameter occurs several times. Cached for all rows of a list. */
const queries = new WeakMap<Query, JsonObject>();
export function queryOf({ query }: Pick<ClientHead, "query">): JsonObject {
  const made = queries.get(query);
  if (made) return made;
  const values = Object.fromEntries(
    [...query].map(([name, texts]) => [name, texts.length === 1 ? texts[0] : texts]),
  );
  queries.set(query, values);
  return values;
}

/** The headers of a request by their lower-case names, without its credentials. */
const headersByRequest = new WeakMap<ClientHead["request"], JsonObject>();
export function headersOf({ request }: ClientHead, hiddenHeaders: readonly string[]): JsonObject {
  const made = headersByRequest.get(request);
  if (made) return made;
  const values = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, lines]) =>
      lines && !CREDENTIALS.has(name) && !hiddenHeaders.includes(name) ? [[name, lines.join(", ")]] : [],
    ),
  );
  headersByRequest.set(request, values);
  return values;
}

/** Returns the value of a header as one text. */
export const joinValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value;

/** Returns each header as one text. */
export const joinLines = (headers: ReceivedHeaders): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, joinValue(value)]));
