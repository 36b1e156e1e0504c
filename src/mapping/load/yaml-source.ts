import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type Node,
} from "yaml";
import type { Diagnostic } from "./diagnostic.ts";

/** A place inside a YAML document: keys and indexes from the top. */
export type YamlPath = readonly PropertyKey[];

/** What is wrong, alone or with what would be right. */
export type Message = string | { readonly message: string; readonly hint: string };

/** One YAML file of a pack, with the way back from a place in its data to a line and a column. */
export interface YamlSource {
  readonly file: string;
  readonly data: unknown;
  /** The document's own syntax faults (duplicate keys among them). */
  readonly diagnostics: readonly Diagnostic[];
  /** A fault at a place; `offset` counts characters into a scalar's text, for expressions. */
  diagnosticAt(path: YamlPath, message: Message, offset?: number): Diagnostic;
  /** A fault of a key itself. */
  keyDiagnosticAt(path: YamlPath, message: Message): Diagnostic;
}

/** The nearest node that exists: a missing key is reported at the map that lacks it. */
function nearestNode(document: Document, path: YamlPath): Node | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (node && typeof node === "object" && "range" in node) return node as Node;
  }
  return undefined;
}

/** The node of a key. */
function keyNode(document: Document, path: YamlPath): Node | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(
    (item) => isPair(item) && isScalar(item.key) && item.key.value === path.at(-1),
  );
  return pair?.key as Node | undefined;
}

/**
 * Where the n-th character of a scalar's value stands in the file. In a block scalar (`|`) the text starts
 * on the line after the bar and every line is indented; in a quoted or plain one it starts at the node.
 */
function offsetInScalar(text: string, node: Node, offset: number): number {
  const start = node.range?.[0] ?? 0;
  if (!isScalar(node) || typeof node.value !== "string") return start;
  if (node.type !== "BLOCK_LITERAL" && node.type !== "BLOCK_FOLDED") {
    return start + offset + (node.type === "PLAIN" ? 0 : 1);
  }
  const before = node.value.slice(0, offset).split("\n");
  let line = text.indexOf("\n", start) + 1;
  const indent = /^[ ]*/.exec(text.slice(line))?.[0].length ?? 0;
  for (let skipped = 1; skipped < before.length; skipped += 1) line = text.indexOf("\n", line) + 1;
  return line + indent + (before.at(-1)?.length ?? 0);
}

/** What a file says that can't stand in a pack, and the character of the file at which it says so. */
interface YamlProblem {
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
function findYamlProblems(document: Document): YamlProblem[] {
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

/** What JSON has too, whatever version or tag a file asks for: no sets, no dates, no bytes, no merged maps. */
const PLAIN = { schema: "core", resolveKnownTags: false, merge: false } as const;

/** Parses one file's text; never throws. */
export function parseYaml(file: string, text: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PLAIN, lineCounter: lines });
  const written = text.split(/\r?\n/);
  const at = (offset: number, message: Message): Diagnostic => {
    const { line, col } = lines.linePos(Math.max(0, offset));
    const position = { file, line: Math.max(1, line), column: Math.max(1, col) };
    const what = typeof message === "string" ? { message } : message;
    return { ...position, ...what, excerpt: written[position.line - 1] ?? "" };
  };
  const diagnostics = [...document.errors, ...document.warnings].map((error) =>
    at(error.pos[0], error.message.replace(/ at line \d+, column \d+:?[^]*$/, "")),
  );
  if (diagnostics.length === 0)
    diagnostics.push(...findYamlProblems(document).map(({ offset, message }) => at(offset, message)));
  return {
    file,
    data: diagnostics.length > 0 ? undefined : document.toJS({ maxAliasCount: -1 }),
    diagnostics,
    diagnosticAt(path, message, offset) {
      const node = nearestNode(document, path);
      if (!node) return at(0, message);
      return at(offset === undefined ? (node.range?.[0] ?? 0) : offsetInScalar(text, node, offset), message);
    },
    keyDiagnosticAt: (path, message) => at(keyNode(document, path)?.range?.[0] ?? 0, message),
  };
}

/** A YAML file as it is written. */
export interface YamlText {
  readonly file: string;
  readonly text: string;
}

/** All YAML files of a folder, by name. */
export const readYamlTexts = (directory: string): YamlText[] =>
  readdirSync(directory)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(directory, name))
    .map((file) => ({ file, text: readFileSync(file, "utf8") }));

/** The same, each parsed. */
export const readYamlFolder = (directory: string): YamlSource[] =>
  readYamlTexts(directory).map(({ file, text }) => parseYaml(file, text));
