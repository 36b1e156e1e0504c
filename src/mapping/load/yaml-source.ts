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

/** The path of a value in a YAML document: keys and indexes from the top. */
export type YamlPath = readonly PropertyKey[];

/** The message of a diagnostic, with or without a hint how to fix it. */
export type Message = string | { readonly message: string; readonly hint: string };

/** One parsed YAML file of a pack. It can translate a path in its data to a line and a column. */
export interface YamlSource {
  readonly file: string;
  readonly data: unknown;
  /** Syntax errors of the document, including duplicate keys. */
  readonly diagnostics: readonly Diagnostic[];
  /** Creates a diagnostic of a value. `offset` counts characters into the text of a scalar, for expressions. */
  diagnosticAt(path: YamlPath, message: Message, offset?: number): Diagnostic;
  /** The text of a scalar as it is written: `1.10`. Undefined for other values. */
  textAt(path: YamlPath): string | undefined;
  /** Creates a diagnostic of a key. */
  keyDiagnosticAt(path: YamlPath, message: Message): Diagnostic;
  /** The line of a value. */
  lineAt(path: YamlPath): number;
  /** The lines that were asked for so far, by the keys of their paths. */
  readonly lines: ReadonlyMap<string, number>;
  /** Whether an earlier build found the pack of this file valid, so that it need not be checked again. */
  readonly isChecked: boolean;
}

/** The path as a key of {@link YamlSource.lines}. */
const keyOf = (path: YamlPath): string => path.join("\0");

/** Returns the node at a path, or its nearest ancestor: a missing key is reported at the map that lacks it. */
function nearestNode(document: Document, path: YamlPath): Node | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (node && typeof node === "object" && "range" in node) return node as Node;
  }
  return undefined;
}

/** Returns the node of a key. */
function keyNode(document: Document, path: YamlPath): Node | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(
    (item) => isPair(item) && isScalar(item.key) && item.key.value === path.at(-1),
  );
  return pair?.key as Node | undefined;
}

/**
 * Returns the position in the file of the n-th character of a scalar. The text of a block scalar (`|`) starts on the next
 * line, and its lines are indented. The text of a quoted or plain scalar starts at the node.
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

/** A part of a file that is valid YAML but not allowed in a pack, with its offset in characters. */
interface YamlProblem {
  readonly offset: number;
  readonly message: string;
}

/** Maximum nesting of a file. No pack is nested nearly as deep, and code that visits its data is recursive. */
const MAX_DEPTH = 200;

/** Maximum number of values that the aliases of a file may repeat: ten lines of nested aliases can mean a billion. */
const MAX_REPEATED_VALUES = 10_000;

/**
 * Finds what JSON can't express: unknown aliases, maps that contain themselves, keys that are maps or lists. Also finds
 * what would take too long to visit. `yaml` converts all other documents without errors or warnings.
 */
function findYamlProblems(document: Document): YamlProblem[] {
  const problems: YamlProblem[] = [];
  const report = (node: Node, message: string): void =>
    void problems.push({ offset: node.range?.[0] ?? 0, message });
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

  visit(document, {
    Pair(_at, { key }) {
      const named = isAlias(key) ? anchors.get(key.source) : key;
      if (isCollection(named)) report(key as Node, "a key can't be a map or a list");
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
      if (around.length <= MAX_DEPTH) return undefined;
      report(node, `values are nested more than ${MAX_DEPTH} levels deep`);
      return visit.BREAK;
    },
  });
  return problems;
}

/** Only what JSON has too, whatever version or tag a file declares: no sets, dates, bytes or merged maps. */
const JSON_SCHEMA_OPTIONS = { schema: "core", resolveKnownTags: false, merge: false } as const;

/** Errors about the structure of a file. */
const STRUCTURE_ERRORS: ReadonlySet<string> = new Set([
  "BAD_INDENT",
  "BLOCK_AS_IMPLICIT_KEY",
  "BLOCK_IN_FLOW",
  "MISSING_CHAR",
  "MULTILINE_IMPLICIT_KEY",
  "TAB_AS_INDENT",
  "UNEXPECTED_TOKEN",
]);

/** What to do about errors whose messages do not say it. */
const HINTS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: "a key has a value or keys below it: compare the indentation of the next line",
  DUPLICATE_KEY: "remove one of the two, or rename it",
  TAB_AS_INDENT: "indent with spaces",
};

const INDENTATION_HINT = "compare the indentation of this line with that of the lines before";

/** What to do about an error at an offset of a file; undefined if its message says it. */
function hintOf(code: string, text: string, offset: number): string | undefined {
  const hint = HINTS[code];
  if (hint !== undefined) return hint;
  const [rest = ""] = /^\{[\w.]*\}[^\s,}\]]*/.exec(text.slice(offset, offset + 200)) ?? [];
  const line = text.slice(Math.max(0, offset - 200, text.lastIndexOf("\n", offset) + 1), offset);
  const before = (line.split(/[,{["']/).at(-1) ?? "").replace(/^[\s:]+/, "").replace(/^[\w-]+: +/, "");
  if (code === "UNEXPECTED_TOKEN" && rest !== "" && before !== "")
    return `write it in quotes, because of the braces: "${before}${rest}"`;
  return STRUCTURE_ERRORS.has(code) ? INDENTATION_HINT : undefined;
}

/** After the first error of the structure the others are about text that is read as something else. */
function firstErrors<T extends { readonly code: string; readonly pos: readonly [number, number] }>(
  errors: readonly T[],
): readonly T[] {
  const [first] = errors
    .filter(({ code }) => STRUCTURE_ERRORS.has(code))
    .sort((one, other) => one.pos[0] - other.pos[0]);
  return first ? [first] : errors;
}

/** Parses the text of one file. Never throws: syntax errors are diagnostics. */
export function parseYaml(file: string, text: string): YamlSource {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { ...JSON_SCHEMA_OPTIONS, lineCounter });
  const sourceLines = text.split(/\r?\n/);
  const at = (offset: number, message: Message): Diagnostic => {
    const { line, col } = lineCounter.linePos(Math.max(0, offset));
    const position = { file, line: Math.max(1, line), column: Math.max(1, col) };
    const what = typeof message === "string" ? { message } : message;
    return { ...position, ...what, excerpt: sourceLines[position.line - 1] ?? "" };
  };
  const diagnostics = firstErrors([...document.errors, ...document.warnings]).map(
    ({ code, pos, message }) => {
      const what = message.replace(/ at line \d+, column \d+:?[^]*$/, "");
      const hint = hintOf(code, text, pos[0]);
      return at(pos[0], hint === undefined ? what : { message: what, hint });
    },
  );
  if (diagnostics.length === 0)
    diagnostics.push(...findYamlProblems(document).map(({ offset, message }) => at(offset, message)));
  function diagnosticAt(path: YamlPath, message: Message, offset?: number): Diagnostic {
    const node = nearestNode(document, path);
    if (!node) return at(0, message);
    return at(offset === undefined ? (node.range?.[0] ?? 0) : offsetInScalar(text, node, offset), message);
  }
  const lines = new Map<string, number>();
  return {
    file,
    data: diagnostics.length > 0 ? undefined : document.toJS({ maxAliasCount: -1 }),
    diagnostics,
    diagnosticAt,
    textAt(path) {
      const node = document.getIn(path, true);
      return isScalar(node) ? node.source : undefined;
    },
    keyDiagnosticAt: (path, message) => at(keyNode(document, path)?.range?.[0] ?? 0, message),
    lineAt(path) {
      const { line } = diagnosticAt(path, "");
      lines.set(keyOf(path), line);
      return line;
    },
    lines,
    isChecked: false,
  };
}

/**
 * A file of a pack that an earlier build found valid. It is only parsed if a message about it is needed.
 *
 * @param lines Those that the earlier build asked for.
 */
export function checkedYaml({ file, text }: YamlText, lines: ReadonlyMap<string, number>): YamlSource {
  let source: YamlSource | undefined;
  const parse = (): YamlSource => (source ??= parseYaml(file, text));
  return {
    file,
    get data() {
      return parse().data;
    },
    diagnostics: [],
    diagnosticAt: (...about) => parse().diagnosticAt(...about),
    textAt: (path) => parse().textAt(path),
    keyDiagnosticAt: (...about) => parse().keyDiagnosticAt(...about),
    lineAt: (path) => lines.get(keyOf(path)) ?? parse().lineAt(path),
    lines,
    isChecked: true,
  };
}

/** The text of a YAML file. */
export interface YamlText {
  readonly file: string;
  readonly text: string;
}

/** Reads the texts of all YAML files of a folder, sorted by name. @throws {Error} If the folder can't be read. */
export const readYamlTexts = (directory: string): YamlText[] =>
  readdirSync(directory)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(directory, name))
    .map((file) => ({ file, text: readFileSync(file, "utf8") }));

/** Reads and parses all YAML files of a folder. @throws {Error} If the folder can't be read. */
export const readYamlFolder = (directory: string): YamlSource[] =>
  readYamlTexts(directory).map(({ file, text }) => parseYaml(file, text));
