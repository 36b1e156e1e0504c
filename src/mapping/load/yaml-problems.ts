import { isAlias, isCollection, visit, type Alias, type Document, type Node } from "yaml";

/** What a file says that can't stand in a pack, and the character of the file at which it says so. */
export interface YamlProblem {
  readonly offset: number;
  readonly message: string;
}

/**
 * Lists, maps and keys that may stand around a value. No pack is nested nearly as deep, and what walks its data
 * calls itself at each level.
 */
const DEEPEST = 200;

/** Values that a file's aliases may add to it in all. Ten lines of aliases of each other can mean a billion. */
const MOST_REPEATED = 10_000;

/**
 * What YAML can say and JSON can't: an alias of nothing, a map within itself, a key that is a map or a list; and
 * what would take for ever to walk. A document without it becomes data without an error or a warning of `yaml`.
 */
export function findYamlProblems(document: Document): YamlProblem[] {
  const faults: YamlProblem[] = [];
  const tell = (node: Node, message: string): void =>
    void faults.push({ offset: node.range?.[0] ?? 0, message });
  /** What an alias would stand for here: the last of its name before it. */
  const anchors = new Map<string, Node>();
  /** How many values each alias so far stands for. */
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

  visit(document, {
    Pair(_at, { key }) {
      const named = isAlias(key) ? anchors.get(key.source) : key;
      if (isCollection(named)) tell(key as Node, "a key can't be a map or a list");
    },
    Alias(_at, alias, around) {
      const named = anchors.get(alias.source);
      if (!named) return tell(alias, `nothing before this is named &${alias.source}`);
      if (around.includes(named)) return tell(alias, `*${alias.source} stands within what it repeats`);
      sizes.set(alias, sizeOf(named));
      repeated += sizes.get(alias) ?? 0;
      if (repeated <= MOST_REPEATED) return undefined;
      tell(alias, `aliases repeat more than ${MOST_REPEATED} values in all`);
      return visit.BREAK;
    },
    Value(_at, node, around) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (around.length <= DEEPEST) return undefined;
      tell(node, "is nested too deeply");
      return visit.BREAK;
    },
  });
  return faults;
}
