/**
 * Compares the rules about credentials and headers. A replay can't show their effects, because it has no credentials,
 * and headers are not recorded. Only rules that affect the request are compared.
 */
import type { AuditRecord } from "../../audit/index.ts";
import { isSuccess, type Pack, type Route, scopeOf } from "../../pack/index.ts";
import { compareBodies, type ReplayDifference } from "./differences.ts";

const requiredScope = ({ dialect: { scopes } }: Pack, route: Route): string =>
  scopeOf(route, scopes?.levels ?? []) + (route.withoutScopes ? ", or a token without scopes" : "");

/** Returns rules of headers by their lower-case names: header names are case-insensitive (RFC 9110, section 5.1). */
const passedHeaders = (
  rules: Readonly<Record<string, { readonly upstream?: string | undefined }>> | undefined = {},
): object =>
  Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [
      name.toLowerCase(),
      { ...rule, ...(rule.upstream !== undefined && { upstream: rule.upstream.toLowerCase() }) },
    ]),
  );

/** Returns the rules of a pack about the headers of the response to a recorded request. */
function responseHeaders({ alpha }: AuditRecord, pack: Pack, route: Route): object {
  const { client } = pack.dialect;
  const { definition } = route.lists.paging;
  const { link_header: link, total_header: total, range_header: range, links } = definition.client ?? {};
  const isOk = isSuccess(alpha.status);
  return {
    ...(isOk && { passed: passedHeaders(route.headers?.definition.response) }),
    ...(isOk && route.response === "list" && { list: { link, total: total?.toLowerCase(), range, links } }),
    type: isOk ? (route.text?.contentType ?? pack.responseTypes.success) : pack.responseTypes.error,
    rateLimit: client.rate_limit_headers,
    upstream: client.upstream_header?.toLowerCase(),
    ...(alpha.filter !== null && { upstreamFilter: client.upstream_filter_header?.toLowerCase() }),
  };
}

/**
 * Returns the differences of the rules that a recorded request depends on: its required scope, how credentials are read
 * and sent, and the headers that one of the packs sets, forwards or requires.
 */
export function compareRules(record: AuditRecord, was: Pack, is: Pack): ReplayDifference[] {
  const { lane, alpha, v4, client } = record;
  const [one, two] = [was, is].map((pack) => (alpha.route === null ? undefined : pack.route(alpha.route)));
  if (lane !== "alpha" || !one || !two) return [];
  const needsToken = client.fingerprint !== null || one.access !== "public" || two.access !== "public";
  const needsScope = typeof one.access !== "string" || typeof two.access !== "string";
  const rulesOf = (pack: Pack, route: Route): object => {
    const { dialect } = pack;
    return {
      "required scope": requiredScope(pack, route),
      ...(needsScope && { scopes: dialect.scopes }),
      ...(needsToken && { "client credentials": dialect.client.credentials }),
      "response headers": responseHeaders(record, pack, route),
      "client version": dialect.client.version,
      ...(alpha.filter !== null && {
        "client filter header": dialect.client.filters?.header?.toLowerCase(),
      }),
      ...(v4.length > 0 && {
        "upstream credentials": dialect.upstream.credentials,
        "upstream headers": pack.upstreamHeaders,
        "passed request headers": passedHeaders(route.headers?.definition.request),
      }),
      ...(v4.some(({ filter }) => filter !== null) && {
        "upstream filter header": dialect.upstream.filters?.header?.toLowerCase(),
      }),
    };
  };
  return compareBodies("", rulesOf(was, one), rulesOf(is, two));
}
