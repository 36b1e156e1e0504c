import { isScalar, LineCounter, parseDocument, type Node } from "yaml";
import { MAX_DIAGNOSTICS, withCode, type Diagnostic, type Message } from "./diagnostic.ts";
import { locateNodes, type YamlPath } from "./yaml-nodes.ts";
import { findYamlProblems } from "./yaml-problems.ts";

/** A map whose keys keep their YAML types. Keys of an object would all be texts. */
type YamlMap = ReadonlyMap<string | number | boolean | null, unknown>;

/** The text of a YAML file. */
export interface YamlText {
  readonly file: string;
  readonly text: string;
}

/** One parsed YAML file of a pack. It can translate a path in its data to a line and a column. */
export interface YamlSource {
  readonly file: string;
  readonly data: unknown;
  /** Syntax errors of the document, including duplicate keys. */
  readonly diagnostics: readonly Diagnostic[];
  /** Creates a diagnostic of a value. `offset` is a number of characters from the start of a scalar, for expressions. */
  diagnosticAt(path: YamlPath, message: Message, offset?: number): Diagnostic;
  /** Returns the text of a scalar as the author wrote it: `1.10`. Undefined for other values. */
  textAt(path: YamlPath): string | undefined;
  /** Returns the map at a path; undefined for other values. */
  mapAt(path: YamlPath): YamlMap | undefined;
  /** Creates a diagnostic of a key. */
  keyDiagnosticAt(path: YamlPath, message: Message): Diagnostic;
  /** Returns the line of a value. */
  lineAt(path: YamlPath): number;
  /** The lines that were requested so far, by the keys of their paths. */
  readonly lines: ReadonlyMap<string, number>;
  /** Whether an earlier build found the pack of this file valid, so that no check is needed. */
  readonly isChecked: boolean;
}

/** Converts a path to a key of {@link YamlSource.lines}. */
const lineKey = (path: YamlPath): string => path.join("\0");

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

/**
 * Only JSON types are allowed, regardless of the version or tags that a file declares: no sets, dates, bytes or merged
 * maps.
 */
const JSON_SCHEMA_OPTIONS = { schema: "core", resolveKnownTags: false, merge: false } as const;

/** `yaml` compares each key with all keys before it. {@link findYamlProblems} reads each key once. */
const PARSE_OPTIONS = { ...JSON_SCHEMA_OPTIONS, uniqueKeys: false, prettyErrors: false } as const;

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

/** Remedies for errors whose messages do not contain one. */
const HINTS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: "a key has a value or keys below it: compare the indentation of the next line",
  TAB_AS_INDENT: "indent with spaces",
};

const INDENTATION_HINT = "compare the indentation of this line with that of the lines before";

/** Returns the remedy for an error at an offset of a file; undefined if its message contains one. */
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

/** After the first structural error, the parser misreads the text, so the errors that follow are dropped. */
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
  const document = parseDocument(text, { ...PARSE_OPTIONS, lineCounter });
  const sourceLines = text.split(/\r?\n/);
  const at = (offset: number, message: Message, path?: YamlPath): Diagnostic => {
    const { line, col } = lineCounter.linePos(Math.max(0, offset));
    const position = { file, line: Math.max(1, line), column: Math.max(1, col) };
    const { code, hint, message: text } = typeof message === "string" ? { message } : message;
    return {
      ...position,
      message: text,
      ...(code !== undefined && { code }),
      ...(hint !== undefined && { hint }),
      ...(path && { path: path.map((key) => (typeof key === "number" ? key : String(key))) }),
      excerpt: sourceLines[position.line - 1] ?? "",
    };
  };
  const diagnostics = firstErrors([...document.errors, ...document.warnings])
    .slice(0, MAX_DIAGNOSTICS)
    .map(({ code, pos, message }) => {
      const hint = hintOf(code, text, pos[0]);
      return at(pos[0], { message, hint, code: "yaml" });
    });
  if (diagnostics.length === 0)
    diagnostics.push(
      ...findYamlProblems(document).map(({ offset, message }) => at(offset, withCode(message, "yaml"))),
    );
  const nodes = locateNodes(document);
  function diagnosticAt(path: YamlPath, message: Message, offset?: number): Diagnostic {
    const node = nodes.nearest(path);
    if (!node) return at(0, message, path);
    return at(
      offset === undefined ? (node.range?.[0] ?? 0) : offsetInScalar(text, node, offset),
      message,
      path,
    );
  }
  const lines = new Map<string, number>();
  let maps: unknown;
  return {
    file,
    data: diagnostics.length > 0 ? undefined : document.toJS({ maxAliasCount: -1 }),
    diagnostics,
    diagnosticAt,
    mapAt(path) {
      maps ??= document.toJS({ mapAsMap: true, maxAliasCount: -1 });
      const found = path.reduce<unknown>(
        (value, key) =>
          value instanceof Map
            ? [...(value as YamlMap)].find(([name]) => String(name ?? "") === String(key))?.[1]
            : undefined,
        maps,
      );
      return found instanceof Map ? (found as YamlMap) : undefined;
    },
    textAt(path) {
      const node = nodes.at(path);
      return isScalar(node) ? node.source : undefined;
    },
    keyDiagnosticAt: (path, message) => at(nodes.keyOf(path)?.range?.[0] ?? 0, message, path),
    lineAt(path) {
      const { line } = diagnosticAt(path, "");
      lines.set(lineKey(path), line);
      return line;
    },
    lines,
    isChecked: false,
  };
}

/**
 * A file of a pack that an earlier build found valid. It is only parsed if a message needs its lines.
 *
 * @param lines The lines that the earlier build requested.
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
    mapAt: (path) => parse().mapAt(path),
    keyDiagnosticAt: (...about) => parse().keyDiagnosticAt(...about),
    lineAt: (path) => lines.get(lineKey(path)) ?? parse().lineAt(path),
    lines,
    isChecked: true,
  };
}
