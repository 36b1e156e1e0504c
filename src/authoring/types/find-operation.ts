/** Finds the operation of a document that a request calls. */
import type { Pack, Route } from "../../pack/index.ts";
import { operationKey, type Surface } from "../../migration/index.ts";

/** The key of an operation without the prefix that all paths of an API have: `GET /books/{}`. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${withoutPrefix(prefix, path)}`;
}

/** A path without the prefix that all paths of an API have. */
export const withoutPrefix = (prefix: string, path: string): string =>
  prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;

/** Finds the key of the operation of a request; undefined if the document has none. @param path With or without the prefix */
export type FindOperation = (method: string, path: string) => string | undefined;

/** The keys of all calls of a route. */
function callsOf(route: Route): string[] {
  const { source, calls, withoutScopes } = route;
  const endpoints = [...("call" in source ? [source.call] : []), ...calls.map(({ endpoint }) => endpoint)];
  const own = endpoints.map(({ method, template }) => operationKey(`${method} ${template.split("?")[0]}`));
  return withoutScopes ? [...own, ...callsOf(withoutScopes)] : own;
}

/** Prepares the search for one of some keys. @param last What the last parameter of a key matches */
function finderOf(keys: readonly string[], last: string): (call: string) => string | undefined {
  const patterns = keys.map((key) => {
    const parts = key.split("{}").map((part) => RegExp.escape(part));
    const end = parts.pop() ?? "";
    const start = parts.length > 0 ? parts.join("[^/]+") + last : "";
    return { key, pattern: new RegExp(`^${start}${end}$`) };
  });
  return (call) => patterns.find(({ pattern }) => pattern.test(call))?.key;
}

/** Prepares the search for operations. Of several, the one with the fewest parameters is found. */
export function createOperationFinder(surface: Surface, pack: Pack): FindOperation {
  const prefix = pack.dialect.upstream.base_path;
  const parameters = (key: string): number => key.split("{}").length;
  const keys = [...surface.values()]
    .map(({ name }) => keyWithout(prefix, name))
    .sort((one, other) => parameters(one) - parameters(other));
  const find = finderOf(keys, "[^/]+");
  const findCalled = finderOf([...new Set(pack.routes.flatMap(callsOf))], "[^/]+");
  // A value with slashes is within other paths: where the pack has such a call, the document lacks the operation.
  const findWithSlashes = finderOf(keys, ".+");
  return (method, path) => {
    const call = `${method} ${withoutPrefix(prefix, path.split("?", 1)[0] ?? "")}`;
    return find(call) ?? (findCalled(call) === undefined ? findWithSlashes(call) : undefined);
  };
}
