/** Links to other pages of a list: in the `Link` header (RFC 8288), and in bodies. */
import { readParameters } from "../paths/query.ts";

/** Relations of a page to other pages. `prev` and `previous` are the same, as the dialect spells it. */
export const LINK_RELATIONS = ["first", "prev", "previous", "next", "last"] as const;

export type LinkRelation = (typeof LINK_RELATIONS)[number];

/** Matches a part of a `Link` header: the target, and its parameters up to the next target. Each character is matched once. */
const LINK = /<([^<>]*)>([^<]*)/g;
const RELATION = /;\s*rel\s*=\s*"?([^";,]*)/i;

/** Returns the target of a relation such as `next`; undefined if the header does not contain it. */
export function findLink(
  header: string | readonly string[] | undefined,
  relation: string,
): string | undefined {
  for (const [, target, parameters = ""] of [header ?? []].flat().join(", ").matchAll(LINK)) {
    const relations = RELATION.exec(parameters)?.[1]?.trim().toLowerCase().split(" ");
    if (relations?.includes(relation)) return target;
  }
  return undefined;
}

/** Returns a parameter of the query of a link. The link itself is never followed. */
export const linkParameter = (link: string, parameter: string): string | undefined =>
  URL.parse(link, "http://upstream.invalid")?.searchParams.get(parameter) || undefined;

/** Returns the value of a `Link` header; undefined if there are no links. @param relations in the order of the header */
export function formatLinks(
  links: Readonly<Record<Exclude<LinkRelation, "previous">, string | null>>,
  relations: readonly LinkRelation[],
): string | undefined {
  const parts = relations.flatMap((relation) => {
    const target = links[relation === "previous" ? "prev" : relation];
    return target === null ? [] : [`<${target}>; rel="${relation}"`];
  });
  return parts.length > 0 ? parts.join(", ") : undefined;
}

/**
 * Returns the path of a request for a link. It starts with one slash, since two would start a host name. Characters
 * that a path can't contain are escaped (RFC 3986, section 3.3), since they could end the link.
 */
export const linkPath = (path: string): string =>
  path
    .toWellFormed()
    .replace(/^[/\\]+/, "/")
    .replace(/[^\w.~!$&'()*+,;=:@/%-]/gu, encodeURIComponent);

/**
 * Returns a path with the query of a different page. Unrelated parameters stay.
 *
 * @param names the parameters that identify the page
 * @param value the value of the parameter; null: the first page, which needs no parameter
 */
export function withPage(
  path: string,
  query: string,
  names: readonly string[],
  parameter: string,
  value: string | number | null,
): string {
  const parameters = readParameters(query);
  for (const name of names) if (value === null || name !== parameter) parameters.delete(name);
  if (value !== null) parameters.set(parameter, String(value));
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Returns a query with a parameter: as it was, or with a new value. */
export function withParameter(query: string, name: string, value: number): string {
  const parameters = readParameters(query);
  if (parameters.has(name)) return query;
  parameters.set(name, String(value));
  return parameters.toString();
}
