/** The source of a route's response, its kind, and its access rule. */
import { resolveReference, type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { RouteCall } from "../calls/call.ts";
import { compileEndpoint, type Endpoint } from "../calls/endpoint.ts";
import type { RouteKind } from "../key-rules.ts";
import type { Paging } from "../lists/paging.ts";
import type { Resource } from "./resource.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import type { Access } from "../credentials/scopes.ts";

/** The source of a route's response: a v4 call, a cached catalog, or an error if v4 has no such call. */
export type RouteSource =
  | { readonly call: Endpoint }
  | { readonly catalog: Catalog }
  | { readonly error: { readonly status: number; readonly reason: string } };

/** Compiles the source of a route's response: a v4 call, a catalog, or a fixed error. */
export function compileSource(
  definition: RouteDefinition,
  resource: Resource,
  names: readonly string[],
  { upstream: { base_path: prefix }, messages }: DialectDefinition,
  location: SourceLocation,
): RouteSource {
  const { reject } = definition;
  if (reject !== undefined) {
    const [name, status, at] =
      typeof reject === "string"
        ? [reject, 400, location.at("reject")]
        : [reject.message, reject.status, location.at("reject", "message")];
    return {
      error: {
        status,
        reason: resolveReference(at, "message", name, new Map(Object.entries(messages))) ?? "",
      },
    };
  }
  if (definition.catalog && definition.upstream)
    location.report("a route is served from the catalog or by an upstream call, not both");
  if (typeof definition.catalog === "string" && definition.catalog !== resource.name)
    location.at("catalog").report({
      message: `a route has the catalog of its own file, "${resource.name}"`,
      hint: "catalog: true",
    });
  if (definition.catalog && resource.catalog) return { catalog: resource.catalog };
  if (definition.catalog) location.at("catalog").report("this resource has no catalog");
  else if (!definition.upstream)
    location.report('a route needs "upstream: METHOD /path", "catalog: true", or "reject"');
  const path = definition.upstream ?? "GET /";
  return {
    call: compileEndpoint(path, prefix, names, definition.upstream ? location.at("upstream") : location),
  };
}

/** Returns the kind of a route. It selects the code of the gateway that creates the response. */
export function kindOf(
  { response, upload, file, bulk, aggregate, search }: RouteDefinition,
  source: RouteSource,
  { isDirect }: Paging,
): RouteKind {
  if ("error" in source) return "rejected";
  if ("catalog" in source) return "catalog";
  if (upload || file) return "file";
  if (bulk) return "bulk";
  if (aggregate) return "aggregated";
  if (response !== "list") return "object";
  const takesPage = source.call.method === "GET" || search !== undefined;
  return takesPage && !isDirect ? "paged" : "list";
}

/**
 * Whether the requests of a route only read.
 *
 * @param method The method of the client's request.
 * @param calls All calls in addition to the main call.
 */
export function readsOf(
  { safe, search }: RouteDefinition,
  method: string,
  source: RouteSource,
  calls: readonly RouteCall[],
) {
  const isRead = !("call" in source) || source.call.method === "GET" || search !== undefined;
  // A GET changes no part: it reads it, whatever the call for changes is.
  const areReads = calls.every(
    ({ endpoint, part }) => endpoint.method === "GET" || (method === "GET" && part !== undefined),
  );
  const onlyReadsUpstream = safe === true || (isRead && areReads);
  return {
    /** Whether the main call changes nothing at the upstream. Some upstreams read lists with a POST. */
    mainCallReads: isRead,
    /** Whether its calls change nothing at the upstream. */
    onlyReadsUpstream,
    /** Whether the route's requests only read, on both sides. Only such requests may be sent to both sides, or sent again. */
    isSafe: safe === true || (method === "GET" && onlyReadsUpstream),
  };
}

/** The scopes of the client, by resource and level. */
export const scopeNames = ({ scopes }: DialectDefinition): string[] =>
  Object.keys(scopes?.resources ?? {}).flatMap((resource) =>
    (scopes?.levels ?? []).map((level) => `${resource}:${level}`),
  );

/** Compiles the access rule of a route. A route without a rule needs a token, if clients have tokens at all. */
export function compileAccess(
  { scope: given }: RouteDefinition,
  {
    dialect,
    access,
  }: { readonly dialect: DialectDefinition; readonly access: (scope: string) => Access | undefined },
  location: SourceLocation,
): Access {
  const scope = given ?? (dialect.client.credentials ? "token" : "public");
  const rule = access(scope);
  if (rule) return rule;
  location.at("scope").report({
    message: `"${scope}" is not public, token, or resource:level of pack.yaml`,
    hint: suggestionFor(scope, ["public", "token", ...scopeNames(dialect)]),
  });
  return "token";
}
