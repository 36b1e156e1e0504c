/** Where a node is written: JSONata's nodes only have the end of one of their tokens. */
import { isNode, type AstNode } from "../language/ast.ts";

/** Offsets into a source: the first character, and the one after the last. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Texts, names in backticks, comments and regular expressions. Brackets in them are not brackets of the expression.
 * One without an end extends to the end of the source, so that no other one is searched in it.
 */
const QUOTED =
  /"(?:\\[^]|[^"\\])*(?:"|\\?$)|'(?:\\[^]|[^'\\])*(?:'|\\?$)|`[^`]*(?:`|$)|\/\*[^]*?(?:\*\/|$)|\/(?:\\[^]|[^\\/\n]){1,1000}\/[im]*/g;

/** The ends of an operand: a slash after it divides. */
const OPERAND_END = /[\w)\]}"'`$]\s*$/;

/** The quoted parts of a source, in order. */
function findQuoted(source: string): SourceRange[] {
  const found: SourceRange[] = [];
  const pattern = new RegExp(QUOTED);
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    const { index: start } = match;
    const [text] = match;
    const isRegex = text.startsWith("/") && !text.startsWith("/*");
    if (isRegex && OPERAND_END.test(source.slice(0, start))) pattern.lastIndex = start + 1;
    else found.push({ start, end: start + text.length });
  }
  return found;
}

const PAIRS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** For each opening bracket the offset after its closing bracket. */
function findBrackets(source: string, quoted: readonly SourceRange[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const skipped = new Map(quoted.map(({ start, end }) => [start, end]));
  const open: { readonly at: number; readonly closing: string }[] = [];
  for (let at = 0; at < source.length; at += 1) {
    const end = skipped.get(at);
    const character = source[at] ?? "";
    const closing = PAIRS[character];
    if (end !== undefined) at = end - 1;
    else if (closing !== undefined) open.push({ at, closing });
    else if (open.at(-1)?.closing === character) ends.set(open.pop()?.at ?? 0, at + 1);
  }
  return ends;
}

const NUMBER = /(?<!\d)\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const NEGATIVE_NUMBER = new RegExp(`-\\s*${NUMBER.source}`);

/** Parts of a node that refer to other nodes. */
const LINKS: ReadonlySet<string> = new Set(["slot", "ancestor", "seekingParent"]);

/** The text after the last part of a node that belongs to it. */
const KEEP_ARRAY = /^\s*\[\s*\]/;
const SUFFIXES: Readonly<Record<string, RegExp>> = { transform: /^\s*\|/ };

/** Finds the ranges of the nodes of one source. */
export function createRangeFinder(source: string): (node: AstNode) => SourceRange {
  const quoted = findQuoted(source);
  const brackets = findBrackets(source, quoted);

  function startOfToken({ type, value }: AstNode, end: number): number {
    const literal = quoted.find((part) => part.end === end);
    if (literal) return literal.start;
    if (type === "number") {
      const pattern = Number(value) < 0 ? NEGATIVE_NUMBER : NUMBER;
      return end - (pattern.exec(source.slice(0, end))?.[0].length ?? 1);
    }
    if (type === "variable") return end - String(value).length - 1;
    if (type === "name" || type === "value" || type === "descendant") return end - String(value).length;
    if (type === "lambda") return end - (/(?:function|λ)\s*\($/.exec(source.slice(0, end))?.[0].length ?? 1);
    return end - 1;
  }

  /** Extends a range over the brackets that it opens. */
  function close(start: number, end: number): number {
    let last = end;
    for (const [open, closed] of brackets) if (open >= start && open < last && closed > last) last = closed;
    return last;
  }

  const known = new WeakMap<AstNode, SourceRange>();

  function find(node: AstNode): SourceRange {
    let [start, end] = [source.length, 0];
    const include = (part: unknown): void => {
      if (Array.isArray(part)) return part.forEach(include);
      if (typeof part !== "object" || part === null) return;
      if (isNode(part)) {
        const inner = rangeOf(part);
        [start, end] = [Math.min(start, inner.start), Math.max(end, inner.end)];
      } else Object.values(part).forEach(include);
    };
    if (node.position !== undefined)
      [start, end] = [startOfToken(node, node.position), Math.max(end, node.position)];
    for (const [name, part] of Object.entries(node)) if (!LINKS.has(name)) include(part);
    const closed = close(start, end);
    const suffix = node["keepSingletonArray"] === true ? KEEP_ARRAY : SUFFIXES[node.type];
    return { start, end: closed + (suffix?.exec(source.slice(closed))?.[0].length ?? 0) };
  }

  function rangeOf(node: AstNode): SourceRange {
    const range = known.get(node) ?? find(node);
    known.set(node, range);
    return range;
  }
  return rangeOf;
}
