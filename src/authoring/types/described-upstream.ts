/** The operations of the upstream's document, with the values that their responses may have. */
import type { Pack, Route } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { operationKey, type Surface } from "../../migration/index.ts";
import { findRoute, segmentsOf } from "../draft/find-route.ts";
import { withoutPrefix } from "../examples/example.ts";
import { type AnswerNode, answerTree } from "./answer-tree.ts";
import type { Patterns } from "./check-answer.ts";
import { collectHints } from "./known-values.ts";
import { valuesOf } from "./possible-values.ts";

/** An operation of the document. */
export interface DescribedOperation {
  /** The key: `GET /books/{}`, without the prefix of all paths. */
  readonly key: string;
  readonly nodes: readonly AnswerNode[];
  /** The values that are tried, of the first {@link MOST_TRIED} members. Undefined: the member is missing. */
  readonly values: ReadonlyMap<AnswerNode, readonly unknown[]>;
}

/** Maximum number of members of one response for which other values are tried. */
export const MOST_TRIED = 800;

/** Finds the operation of a call by its method and its path with the prefix of all paths; undefined if the document does not describe it. */
export type FindOperation = (method: string, path: string) => DescribedOperation | undefined;

/** Returns the key of an operation without the prefix of all paths of an API: `GET /books/{}`. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${withoutPrefix(path.split("?", 1)[0] ?? "", prefix)}`;
}

/** Returns the keys of all calls of a route. */
function callsOf({ source, calls, withoutScopes }: Route): string[] {
  const endpoints = [...("call" in source ? [source.call] : []), ...calls.map(({ endpoint }) => endpoint)];
  const catalogs = "catalog" in source ? source.catalog.calls.map(({ path }) => catalogRequest(path)) : [];
  const own = endpoints.map(({ method, template }) => keyWithout("", `${method} ${template}`));
  return [...own, ...catalogs, ...(withoutScopes ? callsOf(withoutScopes) : [])];
}

/** Returns the members that may be missing. If an object requires none, its document does not specify which it has. */
function optionalMembers(nodes: readonly AnswerNode[]): ReadonlySet<AnswerNode> {
  const members = nodes
    .map((node) => [...node.members.values()])
    .filter((all) => all.some(({ place }) => place.required));
  return new Set(members.flat().filter(({ place }) => !place.required));
}

/** Reads the operations of the upstream's document. @param lists The objects of its catalogs */
export function describeUpstream(
  pack: Pack,
  surface: Surface,
  lists: CatalogLists,
  patterns: Patterns,
): FindOperation {
  const prefix = pack.dialect.upstream.base_path;
  const hintsOf = collectHints(pack, lists);
  const operations = new Map(
    [...surface.values()].map((operation) => {
      const key = keyWithout(prefix, operation.name);
      const nodes = [...answerTree(operation).values()];
      const optional = optionalMembers(nodes);
      const values = nodes.slice(0, MOST_TRIED).map((node) => {
        const present = valuesOf(node, { hintsOf, patterns });
        return [node, optional.has(node) ? [undefined, ...present] : present] as const;
      });
      return [key, { key, nodes, values: new Map(values) }] as const;
    }),
  );
  // A value with slashes is not part of the paths of the pack that are missing in the document.
  const calls = [...new Set([...operations.keys(), ...pack.routes.flatMap(callsOf)])].map((key) => {
    const [method = "", path = ""] = key.split(" ");
    return { key, method, segments: segmentsOf(path) };
  });
  const find = findRoute(calls, prefix, true);
  return (method, path) => operations.get(find(method, path.split("?", 1)[0] ?? "")?.key ?? "");
}
