/** Finds the nodes of a YAML document by their paths. Each map is read once, for any number of paths. */
import { isMap, isNode, isScalar, isSeq, type Document, type Node, type Pair, type YAMLMap } from "yaml";

/** The path of a value in a YAML document: keys and indexes from the top. */
export type YamlPath = readonly PropertyKey[];

/** The nodes of one document. */
interface YamlNodes {
  /** The node at a path. */
  at(path: YamlPath): Node | undefined;
  /** The node at a path, or its nearest ancestor: a missing key is reported at the map that lacks it. */
  nearest(path: YamlPath): Node | undefined;
  /** The node of the last key of a path. */
  keyOf(path: YamlPath): Node | undefined;
}

/** Returns a key of a map as JavaScript stores it: `yaml` converts null to an empty text. Only scalar keys are found. */
export const keyText = (key: unknown): string | undefined =>
  isScalar(key) ? String((key.value as string | number | boolean | null) ?? "") : undefined;

const asNode = (value: unknown): Node | undefined => (isNode(value) ? value : undefined);

export function locateNodes(document: Document): YamlNodes {
  const pairsOf = new Map<YAMLMap, ReadonlyMap<string | undefined, Pair>>();
  function pair(map: YAMLMap, key: PropertyKey): Pair | undefined {
    const pairs = pairsOf.get(map) ?? new Map(map.items.map((item) => [keyText(item.key), item]));
    pairsOf.set(map, pairs);
    return pairs.get(String(key));
  }
  function child(node: unknown, key: PropertyKey): unknown {
    if (isMap(node)) return pair(node, key)?.value;
    return isSeq(node) ? node.items[Number(key)] : undefined;
  }
  const at = (path: YamlPath): Node | undefined =>
    asNode(path.reduce<unknown>((node, key) => child(node, key), document.contents));
  return {
    at,
    nearest(path) {
      let [node, found]: [unknown, Node | undefined] = [document.contents, asNode(document.contents)];
      for (const key of path) {
        node = child(node, key);
        found = asNode(node) ?? found;
      }
      return found;
    },
    keyOf(path) {
      const parent = at(path.slice(0, -1));
      return isMap(parent) ? asNode(pair(parent, path.at(-1) ?? "")?.key) : undefined;
    },
  };
}
