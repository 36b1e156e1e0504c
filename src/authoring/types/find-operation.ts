/** Finds the operation of a document that a request calls. */
import type { Pack, Route } from "../../pack/index.ts";
import { operationKey, type Surface } from "../../migration/index.ts";

/** A path without the prefix that all paths of an API have. */
export const withoutPrefix = (prefix: string, path: string): string =>
  prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;

/** The key of an operation without the prefix that all paths of an API have: `GET /books/{}`. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${withoutPrefix(prefix, path)}`;
}

/** Finds the key of the operation of a request. @param path With or without the prefix */
export type FindOperation = (method: string, path: string) => string | undefined;

/** The keys of all calls of a route. */
function callsOf({ source, calls, withoutScopes }: Route): string[] {
  const endpoints = [...("call" in source ? [source.call] : []), ...calls.map(({ endpoint }) => endpoint)];
  const own = endpoints.map(({ method, template }) => operationKey(`${method} ${template.split("?")[0]}`));
  return withoutScopes ? [...own, ...callsOf(withoutScopes)] : own;
}

/** The pattern of the calls of an operation. The value of the last parameter may have slashes. */
function patternOf(key: string): RegExp {
  const parts = key.split("{}").map((part) => RegExp.escape(part));
  const end = parts.pop() ?? "";
  return new RegExp(`^${parts.length > 0 ? `${parts.join("[^/]+")}.+` : ""}${end}$`);
}

/**
 * Prepares the search for operations. It includes operations of the pack that the document lacks, because a value
 * with slashes is not within their paths. The longest path with the fewest parameters wins.
 */
export function createOperationFinder(surface: Surface, pack: Pack): FindOperation {
  const prefix = pack.dialect.upstream.base_path;
  const described = [...surface.values()].map(({ name }) => keyWithout(prefix, name));
  const count = (key: string, part: string): number => key.split(part).length;
  const patterns = [...new Set([...described, ...pack.routes.flatMap(callsOf)])]
    .sort((one, other) => count(other, "/") - count(one, "/") || count(one, "{}") - count(other, "{}"))
    .map((key) => ({ key, pattern: patternOf(key) }));
  return (method, path) => {
    const call = `${method} ${withoutPrefix(prefix, path.split("?", 1)[0] ?? "")}`;
    return patterns.find(({ pattern }) => pattern.test(call))?.key;
  };
}
