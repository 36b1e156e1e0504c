/** Where a node is written: JSONata's nodes only have the end of one of their tokens. */
import { isNode, type AstNode } from "../language/ast.ts";

/** Offsets into a source: the first character, and the one after the last. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** A token of a source. Comments are left out. */
interface Token extends SourceRange {
  readonly text: string;
}

/** Comments, texts, names in backticks, numbers, names and variables, operators. */
const TOKEN =
  /\/\*[^]*?(?:\*\/|$)|"(?:\\[^]|[^"\\])*"?|'(?:\\[^]|[^'\\])*'?|`[^`]*`?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[^\s.[\]{}(),@#;:?+\-*/%|=<>^&!~"'`]+|\.\.|:=|[!<>]=|\*\*|~>|\?[:?]|\S/g;
const REGEX = /\/(?:\\[^]|[^\\/\n]){1,1000}\/[im]*/y;

/** The ends of an operand: a slash after it divides. */
const OPERAND_END = /[\w)\]}"'`$]$/;

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  const regex = new RegExp(REGEX);
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    const { index: start } = match;
    let [text] = match;
    if (text === "/" && !OPERAND_END.test(tokens.at(-1)?.text ?? "")) {
      regex.lastIndex = start;
      text = regex.exec(source)?.[0] ?? text;
      pattern.lastIndex = start + text.length;
    }
    if (!text.startsWith("/*")) tokens.push({ text, start, end: start + text.length });
  }
  return tokens;
}

const PAIRS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** For each opening bracket the offset after its closing bracket. */
function findBrackets(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: { readonly start: number; readonly closing: string }[] = [];
  for (const { text, start, end } of tokens) {
    const closing = PAIRS[text];
    if (closing !== undefined) open.push({ start, closing });
    else if (open.at(-1)?.closing === text) ends.set(open.pop()?.start ?? 0, end);
  }
  return ends;
}

/** Parts of a node that refer to other nodes. */
const LINKS: ReadonlySet<string> = new Set(["slot", "ancestor", "seekingParent"]);

/** The text after the last part of a node that belongs to it. */
const KEEP_ARRAY = /^\s*\[\s*\]/;
const SUFFIXES: Readonly<Record<string, RegExp>> = { transform: /^\s*\|/ };

/** Finds the ranges of the nodes of one source. */
export function createRangeFinder(source: string): (node: AstNode) => SourceRange {
  const tokens = tokenize(source);
  const brackets = findBrackets(tokens);
  const indexes = new Map(tokens.map(({ end }, index) => [end, index]));

  /** The start of the token that ends at an offset, and of what belongs to it: a minus sign, the word "function". */
  function startOfToken({ type, value }: AstNode, end: number): number {
    const index = indexes.get(end) ?? 0;
    const hasPrefix = type === "lambda" || (type === "number" && Number(value) < 0);
    return tokens[hasPrefix ? index - 1 : index]?.start ?? end;
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
