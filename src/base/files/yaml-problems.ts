/** Finds valid YAML that packs must not use. */
import {
  isAlias,
  isCollection,
  isNode,
  isMap,
  isScalar,
  visit,
  type Alias,
  type Document,
  type Node,
  type YAMLMap,
} from "yaml";
import { MAX_DIAGNOSTICS, type Message } from "./diagnostic.ts";
import { keyText } from "./yaml-nodes.ts";

/** A part of a file that is valid YAML but not allowed in a pack, with its offset in characters. */
interface YamlProblem {
  readonly offset: number;
  readonly message: Message;
}

/** Maximum nesting of a file. No pack is nested nearly as deep, and code that visits its data is recursive. */
const MAX_DEPTH = 200;

/**
 * Maximum number of values that the aliases of a file may repeat. Ten lines of nested aliases can expand to a
 * billion.
 */
const MAX_REPEATED_VALUES = 10_000;

const REPEATED_KEY = { message: "Map keys must be unique", hint: "remove one of the two, or rename it" };

const MERGE_KEY = {
  message: 'the merge key "<<" of YAML is not supported',
  hint: "write the keys of both maps here; an alias (*name) repeats a whole value",
};

/**
 * Finds content that JSON can't express: unknown aliases, maps that contain themselves, keys that are maps or lists. It
 * also finds content that takes too long to visit. `yaml` converts all remaining documents without errors or warnings.
 */
export function findYamlProblems(document: Document): YamlProblem[] {
  const problems: YamlProblem[] = [];
  /** Stops the walk after the last problem that is reported. */
  function report(node: Node, message: Message): typeof visit.BREAK | undefined {
    problems.push({ offset: node.range?.[0] ?? 0, message });
    return problems.length < MAX_DIAGNOSTICS ? undefined : visit.BREAK;
  }
  /** The last node of each anchor so far, to which an alias refers. */
  const anchors = new Map<string, Node>();
  /** Number of values that each alias so far repeats. */
  const sizes = new Map<Alias, number>();
  let repeated = 0;

  function sizeOf(node: Node): number {
    let size = 0;
    visit(node, {
      Value: () => void (size += 1),
      Alias: (_at, alias) => void (size += sizes.get(alias) ?? 0),
    });
    return size;
  }

  function repeatedKeys({ items }: YAMLMap): Node[] {
    const texts = new Set<string>();
    return items.flatMap(({ key }) => {
      const text = keyText(key);
      const isRepeated = text !== undefined && texts.size === texts.add(text).size;
      return isRepeated && isNode(key) ? [key] : [];
    });
  }

  visit(document, {
    Pair(_at, { key }) {
      if (isScalar(key) && key.value === "<<" && key.type === "PLAIN") return report(key, MERGE_KEY);
      const named = isAlias(key) ? anchors.get(key.source) : key;
      return isCollection(named) && isNode(key) ? report(key, "a key can't be a map or a list") : undefined;
    },
    Alias(_at, alias, around) {
      const named = anchors.get(alias.source);
      if (!named) return report(alias, `there is no anchor &${alias.source} before this alias`);
      if (around.includes(named))
        return report(alias, `*${alias.source} is inside the value that it repeats`);
      sizes.set(alias, sizeOf(named));
      repeated += sizes.get(alias) ?? 0;
      if (repeated <= MAX_REPEATED_VALUES) return undefined;
      report(alias, `the aliases of this file repeat more than ${MAX_REPEATED_VALUES} values`);
      return visit.BREAK;
    },
    Value(_at, node, around) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      for (const key of isMap(node) ? repeatedKeys(node) : [])
        if (report(key, REPEATED_KEY)) return visit.BREAK;
      if (around.length <= MAX_DEPTH) return undefined;
      report(node, `values are nested more than ${MAX_DEPTH} levels deep`);
      return visit.BREAK;
    },
  });
  return problems;
}
