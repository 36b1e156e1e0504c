/** The v4 call that can replace a client's request, in the form of the response header. */
import { addQuery, type Pack, parseQuery } from "../../pack/index.ts";
import type { RouteMatch } from "../request/context.ts";
import type { AlphaRequest } from "../request/request.ts";

/** The value if v4 has no counterpart, or the client's API never had the path. */
const NO_EQUIVALENT = "none";

/** Returns the page of a list in v4's parameters. Empty if it is invalid, or if one page becomes several. */
function pageQuery({ query }: Pick<AlphaRequest, "query">, { route }: RouteMatch): string {
  const { paging } = route.lists;
  if (route.response !== "list" || !paging.isDirect) return "";
  try {
    const { start, size } = paging.readPage(parseQuery(query));
    return paging.upstream.query({ offset: start, cursor: undefined }, size);
  } catch {
    return "";
  }
}

/**
 * Returns the v4 call of a request that was refused before its call was built, from its route, the values in its path,
 * and its page.
 *
 * @returns method and path, or `none`
 */
export function equivalentOf(
  request: Pick<AlphaRequest, "query">,
  match: RouteMatch | undefined,
  pack: Pack,
): string {
  if (!match) return NO_EQUIVALENT;
  const { source } = match.route;
  if ("error" in source) return NO_EQUIVALENT;
  if ("catalog" in source) {
    const [call] = source.catalog.calls;
    return call ? `GET ${pack.dialect.upstream.base_path}${call.path}` : NO_EQUIVALENT;
  }
  const { call } = source;
  try {
    return `${call.method} ${addQuery(call.path(match.parameters), pageQuery(request, match))}`;
  } catch {
    // The value comes from a body or a different call.
    return `${call.method} ${pack.dialect.upstream.base_path}${call.template}`;
  }
}
