import type { Random } from "./random.ts";

/** Characters that change the state of parsers. */
const TROUBLE = [
  ..."\"'\\{}[]():,;.*&#|>-+=<?/@$^~%!_ \t\n\r0189eEnt".split(""),
  ..."\u0000\u007F\u0080\u00FF\u2028\uD800\uDFFF\uFEFF\uFFFF".split(""),
  "😀",
];

/** Numbers at the limits of number types. */
const NUMBERS = ["0", "-0", "-1", "1e309", "1e-400", "2147483648", "9007199254740993", "0.1", "00", "NaN"];

type Mutation = (text: string, random: Random, others: readonly string[], words: readonly string[]) => string;

/** A range of at most `most` characters. */
function range(text: string, random: Random, most: number): readonly [number, number] {
  const start = random.below(text.length + 1);
  return [start, Math.min(text.length, start + 1 + random.below(most))];
}

const insert = (text: string, random: Random, what: string): string => {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + what + text.slice(at);
};

const replace = (text: string, random: Random, most: number, what: string): string => {
  const [start, end] = range(text, random, most);
  return text.slice(0, start) + what + text.slice(end);
};

const MUTATIONS: readonly Mutation[] = [
  (text, random) => insert(text, random, random.pick(TROUBLE)),
  (text, random) => replace(text, random, 1, random.pick(TROUBLE)),
  (text, random) => replace(text, random, 16, ""),
  (text, random) => replace(text, random, 8, random.pick(NUMBERS)),
  (text, random, _others, words) => insert(text, random, random.pick(words)),
  (text, random, _others, words) => replace(text, random, 12, random.pick(words)),
  // Copies a part of the text: repeated keys, deeper nesting.
  (text, random) => insert(text, random, text.slice(...range(text, random, 40))),
  (text, random) => insert(text, random, text.slice(...range(text, random, 6)).repeat(1 + random.below(20))),
  // Joins the head of one input with the tail of another.
  (text, random, others) => {
    const other = random.pick(others);
    return text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1));
  },
  (text, random, others) => insert(text, random, random.pick(others).slice(...range(text, random, 60))),
  (text, random) => replace(text, random, 1, String.fromCharCode(random.below(0x10000))),
];

/** Mutates a text with one to eight small changes. */
export function mutate(
  text: string,
  random: Random,
  from: {
    readonly corpus: readonly string[];
    readonly dictionary: readonly string[];
    readonly longest: number;
  },
): string {
  let changed = text;
  for (let left = 1 + random.below(random.below(4) === 0 ? 8 : 3); left > 0; left -= 1) {
    changed = random.pick(MUTATIONS)(changed, random, from.corpus, from.dictionary);
  }
  return changed.slice(0, from.longest);
}
