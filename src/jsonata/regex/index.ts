import { LinearRegex } from "./linear.ts";
import { isNullable, parseRegex, type ParsedRegex, type RegexNode } from "./parse.ts";
import { compileRegex, isAnchored } from "./program.ts";

export { UnsupportedRegexError } from "./parse.ts";
export { RegexLimitError } from "./linear.ts";

/** What the gateway uses of a regular expression: RegExp has all of it. */
export interface Regex {
  lastIndex: number;
  exec(text: string): RegExpExecArray | null;
  test(text: string): boolean;
}

/** How much JavaScript's own engine, which goes back and tries again, may have to do. */
interface Effort {
  /** Ways to match that don't depend on the text's length. */
  readonly ways: number;
  /** Characters of the longest of them; of what repeats without an end, those of one turn. */
  readonly length: number;
  /** How often the text's length counts as a factor: what repeats without an end, one behind the other. */
  readonly factors: number;
  /** The same with look-arounds, which are left once and for all. */
  readonly most: number;
}

const ONE: Effort = { ways: 1, length: 1, factors: 0, most: 0 };

/** Counted repetitions are summed up turn by turn. */
const MOST_TURNS = 1000;

function effortOfRepeat({ body, least, most }: RegexNode & { readonly kind: "repeat" }): Effort {
  const { ways, length, factors, most: most_ } = effort(body);
  const never = { ways: Infinity, length, factors, most: most_ };
  if (isNullable(body)) return never;
  if (most === Infinity) {
    if (ways > 1 || most_ > 0 || least > MOST_TURNS) return never;
    return { ways: 1, length: length * (least + 1), factors: 1, most: 1 };
  }
  if (most > MOST_TURNS || (most > 1 && most_ > 0)) return never;
  let sum = 0;
  for (let turns = least; turns <= most; turns += 1) sum += ways ** turns;
  return { ways: sum, length: length * most, factors, most: most_ };
}

function effort(node: RegexNode): Effort {
  if (node.kind === "character" || node.kind === "assertion") return ONE;
  if (node.kind === "capture") return effort(node.body);
  if (node.kind === "look") return { ...effort(node.body), factors: 0 };
  if (node.kind === "repeat") return effortOfRepeat(node);
  if (node.kind === "choice") {
    const all = node.options.map(effort);
    return {
      ways: all.reduce((sum, { ways }) => sum + ways, 0),
      length: Math.max(...all.map(({ length }) => length)),
      factors: Math.max(...all.map(({ factors }) => factors)),
      most: Math.max(...all.map(({ most }) => most)),
    };
  }
  return node.parts.map(effort).reduce(
    (sum, part) => ({
      ways: sum.ways * part.ways,
      length: sum.length + part.length,
      factors: sum.factors + part.factors,
      most: Math.max(sum.most, sum.factors + part.most),
    }),
    { ...ONE, length: 0 },
  );
}

/** Work for each character of a text, and for the whole of one where the expression is tried at its start alone. */
const MOST_BY_CHARACTER = 64;
const MOST_BY_TEXT = 4096;

/** Whether JavaScript's own engine needs a time that grows with the text alone, whatever the text is. */
function isSmall({ root, multiline }: ParsedRegex): boolean {
  const { ways, length, most } = effort(root);
  const work = ways * (length + 1);
  const anchored = isAnchored(root, multiline);
  if (most === 0 && anchored) return work <= MOST_BY_TEXT;
  return work <= MOST_BY_CHARACTER && most <= (anchored ? 1 : 0);
}

/**
 * Prepares a regular expression of a pack, which takes a time that grows in proportion to the text at most. One that
 * can't explode is JavaScript's own; others run on a machine that is linear, up to a limit.
 *
 * @returns makes one with a `lastIndex` of its own; running it throws {RegexTooLong} beyond the limit
 * @throws {RegexRefused} for what neither can run
 */
export function prepareRegex(source: string, flags: string): () => Regex {
  const parsed = parseRegex(source, flags);
  if (isSmall(parsed)) return () => new RegExp(source, flags);
  const program = compileRegex(parsed);
  return () => new LinearRegex(program, `/${source}/${flags}`);
}
