/** Finds the sub-expressions of a source, each with its text. JSONata's nodes only contain the end of one of their tokens. */
import { cutText } from "../../base/index.ts";
import { isNode, type AstNode } from "../language/ast.ts";

/** A sub-expression, as written in the source. */
export interface Step {
  /** The text on one line. A long text is cut, and ends with `…`. */
  readonly text: string;
  /** Offset of the text in the source. */
  readonly offset: number;
  /** The branch of a condition that the step is, if any. */
  readonly branch: "then" | "else" | undefined;
  /** The parent node. */
  readonly parent: AstNode | undefined;
  /** Whether its evaluations are recorded. */
  readonly isRecorded: boolean;
}

/** Offsets into a source: of the first character, and of the character after the last. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Maximum length of the text of a step in characters. */
const MAX_TEXT = 200;

/** Returns the text of a step on one line, for a list of steps. */
const shorten = (text: string): string => cutText(text.replaceAll(/\s+/g, " "), MAX_TEXT);

interface Token extends Range {
  readonly text: string;
}

/** Comments, texts, names in backticks, numbers, names and variables, operators. */
const TOKEN =
  /\/\*[^]*?(?:\*\/|$)|"(?:\\[^]|[^"\\])*"?|'(?:\\[^]|[^'\\])*'?|`[^`]*`?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[^\s.[\]{}(),@#;:?+\-*/%|=<>^&!~"'`]+|\.\.|:=|[!<>]=|\*\*|~>|\?[:?]|\S/g;
const REGEX = /\/(?:\\[^]|[^\\/\n]){1,1000}\/[im]*/y;

/** Matches the end of an operand: a slash after it is a division, even if a comment is between them. */
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

/** Finds the ranges of all pairs of brackets. */
function findBrackets(tokens: readonly Token[]): readonly Range[] {
  const pairs: Range[] = [];
  const open: { readonly start: number; readonly closing: string }[] = [];
  for (const { text, start, end } of tokens) {
    const closing = PAIRS[text];
    if (closing !== undefined) open.push({ start, closing });
    else if (open.at(-1)?.closing === text) pairs.push({ start: open.pop()?.start ?? 0, end });
  }
  return pairs.toSorted((one, other) => one.start - other.start);
}

/** Values whose text is the same as in the source, and functions, which have no text. */
const UNRECORDED = new Set(["string", "number", "value", "regex", "lambda"]);

/** Whether the value of a node is a part of its parent's value: a name in a path, or the function of a call. */
const isPartOf = ({ type }: AstNode, key: string, parent: AstNode | undefined): boolean =>
  key === "procedure" || (type === "name" && key === "steps" && parent?.type === "path");

/** The suffix `[]` of a node. */
const KEEP_ARRAY = /^\s*\[\s*\]/;
const SUFFIXES: Readonly<Record<string, RegExp>> = { transform: /^\s*\|/ };

/** Finds all sub-expressions of a source. @param ast the syntax tree of the source */
export function findSteps(source: string, ast: AstNode): ReadonlyMap<AstNode, Step> {
  const tokens = tokenize(source);
  const brackets = findBrackets(tokens);
  const indexes = new Map(tokens.map(({ end }, index) => [end, index]));
  const steps = new Map<AstNode, Step>();

  /** Returns the range of a node's token, together with a minus sign or the word "function" before it. */
  function findToken({ type, value, position: end }: AstNode): Range {
    if (end === undefined) return { start: source.length, end: 0 };
    const index = indexes.get(end) ?? 0;
    const hasPrefix = type === "lambda" || (type === "number" && Number(value) < 0);
    return { start: tokens[hasPrefix ? index - 1 : index]?.start ?? end, end };
  }

  /** Extends a range to the closing brackets and the suffix of its node. */
  function close(node: AstNode, start: number, end: number): number {
    const closed = brackets.reduce(
      (last, pair) => (pair.start >= start && pair.start < last ? Math.max(last, pair.end) : last),
      end,
    );
    const suffix = node["keepSingletonArray"] === true ? KEEP_ARRAY : SUFFIXES[node.type];
    return closed + (suffix?.exec(source.slice(closed))?.[0].length ?? 0);
  }

  function visit(part: unknown, key: string, parent: AstNode | undefined): Range {
    const node = isNode(part) ? part : undefined;
    let { start, end } = node ? findToken(node) : { start: source.length, end: 0 };
    if (typeof part === "object" && part !== null)
      for (const [name, inner] of Object.entries(part)) {
        const range = visit(inner, Array.isArray(part) ? key : name, node ?? parent);
        start = Math.min(start, range.start);
        end = Math.max(end, range.end);
      }
    if (!node) return { start, end };
    end = close(node, start, end);
    const branch = parent?.type === "condition" && (key === "then" || key === "else") ? key : undefined;
    const isRecorded = !isPartOf(node, key, parent) && (branch !== undefined || !UNRECORDED.has(node.type));
    const text = shorten(source.slice(start, end));
    steps.set(node, { text, offset: start, branch, parent, isRecorded });
    return { start, end };
  }
  visit(ast, "", undefined);
  return steps;
}
