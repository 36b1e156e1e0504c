/**
 * Regular expressions in linear time.
 *
 * This is a custom engine, because patterns of a pack are applied to text that clients send: JavaScript's engine
 * backtracks, and needs exponential time for some patterns (ReDoS), which would block the event loop. Patterns that
 * provably avoid this are still run by JavaScript's engine, which is faster.
 *
 * Why not RE2: docs/internals/decisions.md.
 */
import { LinearRegex } from "./linear.ts";
import { isNullable, parseRegex, type ParsedRegex, type RegexNode } from "./parse-regex.ts";
import { compileRegex, isAnchored } from "./pattern-program.ts";

export { UnsupportedRegexError } from "./parse-regex.ts";
export { RegexLimitError } from "./linear.ts";

/** The part of `RegExp` that JSONata uses. */
export interface Regex {
  lastIndex: number;
  /** Number of steps of the last call, if the linear engine runs the pattern. */
  readonly work?: number;
  exec(text: string): RegExpExecArray | null;
  test(text: string): boolean;
}

/** The maximum work of JavaScript's backtracking engine. */
interface Effort {
  /** Number of ways to match that does not depend on the length of the text. */
  readonly ways: number;
  /** The number of characters of the longest match. For an unbounded repeat: of one iteration. */
  readonly length: number;
  /** The exponent of the length of the text in the work: the number of unbounded repeats in sequence. */
  readonly repeats: number;
  /** `repeats`, including look-arounds, which never backtrack after they have matched. */
  readonly most: number;
}

/** Maximum number of iterations of counted repeats that are added up individually. */
const MAX_REPEATS = 1000;

function measureRepeat({ body, least, most: last }: RegexNode & { readonly kind: "repeat" }): Effort {
  const { ways, length, repeats, most } = measureEffort(body);
  const isUnbounded = last === Infinity;
  const isCertain = most === 0 ? ways === 1 || !isUnbounded : last === 1;
  if (isNullable(body) || !isCertain || (isUnbounded ? least : last) > MAX_REPEATS)
    return { ways: Infinity, length, repeats, most };
  if (isUnbounded) return { ways: 1, length: length * (least + 1), repeats: 1, most: 1 };
  let sum = 0;
  for (let count = least; count <= last; count += 1) sum += ways ** count;
  return { ways: sum, length: length * last, repeats, most };
}

function measureEffort(node: RegexNode): Effort {
  if (node.kind === "repeat") return measureRepeat(node);
  if (node.kind === "capture") return measureEffort(node.body);
  if (node.kind === "look") return { ...measureEffort(node.body), repeats: 0 };
  const inner = node.kind === "choice" ? node.options : node.kind === "sequence" ? node.parts : [];
  const efforts = inner.map(measureEffort);
  if (node.kind === "choice")
    return {
      ways: efforts.reduce((sum, { ways }) => sum + ways, 0),
      length: Math.max(...efforts.map(({ length }) => length)),
      repeats: Math.max(...efforts.map(({ repeats }) => repeats)),
      most: Math.max(...efforts.map(({ most }) => most)),
    };
  return efforts.reduce(
    (sum, part) => ({
      ways: sum.ways * part.ways,
      length: sum.length + part.length,
      repeats: sum.repeats + part.repeats,
      most: Math.max(sum.most, sum.repeats + part.most),
    }),
    { ways: 1, length: node.kind === "sequence" ? 0 : 1, repeats: 0, most: 0 },
  );
}

/** Maximum work for each character of a text, and for a whole text if the pattern is only tried at its start. */
const MAX_WORK_PER_CHARACTER = 64;
const MAX_WORK_PER_TEXT = 4096;

/** Whether JavaScript's engine runs the pattern in linear time for every text. */
function isSafeToBacktrack({ root, multiline }: ParsedRegex): boolean {
  const { ways, length, most } = measureEffort(root);
  const work = ways * (length + 1);
  const anchored = isAnchored(root, multiline);
  if (most === 0 && anchored) return work <= MAX_WORK_PER_TEXT;
  return work <= MAX_WORK_PER_CHARACTER && most <= (anchored ? 1 : 0);
}

/**
 * Prepares a regular expression that runs in linear time: on JavaScript's engine if that is provably safe, otherwise on
 * the linear engine, which has a limit of steps.
 *
 * @returns A factory of instances, each with its own `lastIndex`. An instance throws {RegexLimitError} beyond the
 *   limit.
 * @throws {UnsupportedRegexError} If neither engine can run the pattern in linear time.
 */
export function prepareRegex(source: string, flags: string): () => Regex {
  const parsed = parseRegex(source, flags);
  if (isSafeToBacktrack(parsed)) return () => new RegExp(source, flags);
  const program = compileRegex(parsed);
  return () => new LinearRegex(program, `/${source}/${flags}`);
}
