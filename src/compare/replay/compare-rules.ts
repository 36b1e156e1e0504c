/**
 * Compares the rules whose effects a record can't show, because a replay needs no credentials, and headers are not
 * recorded. Only rules that affect the request are compared.
 */
import type { AuditRecord } from "../../audit/index.ts";
import { isSuccess, type Pack, type Route, scopeOf } from "../../pack/index.ts";
import { compareBodies, type ReplayDifference } from "./differences.ts";

const scopeRule = ({ dialect: { scopes } }: Pack, route: Route): string =>
  scopeOf(route, scopes?.levels ?? []) + (route.withoutScopes ? ", or a token without scopes" : "");

/** Header names have no case (RFC 9110, section 5.1). */
const filterHeader = ({ filters }: Pack["dialect"]["client" | "upstream"]): string | undefined =>
  filters?.header?.toLowerCase();

/** Rules of headers by their names in lower case. */
const passedHeaders = (
  rules: Readonly<Record<string, { readonly upstream?: string | undefined }>> | undefined = {},
): object =>
  Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [
      name.toLowerCase(),
      { ...rule, ...(rule.upstream !== undefined && { upstream: rule.upstream.toLowerCase() }) },
    ]),
  );

/** The rules of a pack about the headers of the response to a recorded request. */
function responseHeaders({ alpha }: AuditRecord, { pack, route }: PackRoute): object {
  const { client } = pack.dialect;
  const {
    link_header: link,
    total_header: total,
    range_header: range,
    links,
  } = route.lists.paging.definition.client ?? {};
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

interface PackRoute {
  readonly pack: Pack;
  readonly route: Route;
}

/** How a client of a route gets in. */
function compareAccess({ client }: AuditRecord, was: PackRoute, is: PackRoute): ReplayDifference[] {
  const needsToken = was.route.access !== "public" || is.route.access !== "public";
  const needsScope = [was, is].some(({ route }) => typeof route.access !== "string");
  const [one, other] = [was.pack.dialect, is.pack.dialect];
  return [
    ...compareBodies("required scope", scopeRule(was.pack, was.route), scopeRule(is.pack, is.route)),
    ...(needsScope ? compareBodies("scopes", one.scopes, other.scopes) : []),
    ...(needsToken || client.fingerprint !== null
      ? compareBodies("client credentials", one.client.credentials, other.client.credentials)
      : []),
  ];
}

/**
 * The differences of the rules that a recorded request depends on: its required scope, how credentials are read and
 * sent, and the headers that one of the packs gives, passes on or expects.
 */
export function compareRules(record: AuditRecord, was: Pack, is: Pack): ReplayDifference[] {
  const { lane, alpha, v4 } = record;
  const [route, other] = [was, is].map((pack) =>
    alpha.route === null ? undefined : pack.route(alpha.route),
  );
  if (lane !== "alpha" || !route || !other) return [];
  const [one, two] = [was.dialect, is.dialect];
  return [
    ...compareAccess(record, { pack: was, route }, { pack: is, route: other }),
    ...compareBodies(
      "response headers",
      responseHeaders(record, { pack: was, route }),
      responseHeaders(record, { pack: is, route: other }),
    ),
    ...compareBodies("client version", one.client.version, two.client.version),
    ...(alpha.filter === null
      ? []
      : compareBodies("client filter header", filterHeader(one.client), filterHeader(two.client))),
    ...(v4.length === 0
      ? []
      : [
          ...compareBodies("upstream credentials", one.upstream.credentials, two.upstream.credentials),
          ...compareBodies("upstream headers", was.upstreamHeaders, is.upstreamHeaders),
          ...compareBodies(
            "passed request headers",
            passedHeaders(route.headers?.definition.request),
            passedHeaders(other.headers?.definition.request),
          ),
        ]),
    ...(v4.every(({ filter }) => filter === null)
      ? []
      : compareBodies("upstream filter header", filterHeader(one.upstream), filterHeader(two.upstream))),
  ];
}
