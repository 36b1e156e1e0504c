import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isPair, isScalar, LineCounter, parseDocument, type Document, type Node } from "yaml";
import type { Diagnostic } from "./diagnostic.ts";
import { findYamlProblems } from "./yaml-problems.ts";

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
  diagnosticAt(path: YamlPath, told: Message, offset?: number): Diagnostic;
  /** A fault of a key itself. */
  keyDiagnosticAt(path: YamlPath, told: Message): Diagnostic;
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

/** What JSON has too, whatever version or tag a file asks for: no sets, no dates, no bytes, no merged maps. */
const PLAIN = { schema: "core", resolveKnownTags: false, merge: false } as const;

/** Parses one file's text; never throws. */
export function parseYaml(file: string, text: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PLAIN, lineCounter: lines });
  const written = text.split(/\r?\n/);
  const at = (offset: number, told: Message): Diagnostic => {
    const { line, col } = lines.linePos(Math.max(0, offset));
    const place = { file, line: Math.max(1, line), column: Math.max(1, col) };
    const what = typeof told === "string" ? { message: told } : told;
    return { ...place, ...what, excerpt: written[place.line - 1] ?? "" };
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
    diagnosticAt(path, told, offset) {
      const node = nearestNode(document, path);
      if (!node) return at(0, told);
      return at(offset === undefined ? (node.range?.[0] ?? 0) : offsetInScalar(text, node, offset), told);
    },
    keyDiagnosticAt: (path, told) => at(keyNode(document, path)?.range?.[0] ?? 0, told),
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
