/** Splits names into words, and compares them. */
import { distance } from "fastest-levenshtein";
import { BoundedMap } from "../../base/index.ts";

/** Words that can be omitted from names without changing the meaning: `created`, `created_at`. */
const FILLERS: ReadonlySet<string> = new Set(["a", "an", "at", "for", "has", "is", "of", "on", "the", "to"]);

/** Maximum number of compared words of a name. Longer names are cut, because documents are untrusted. */
const MAX_WORDS = 24;

/** Returns a word without a plural ending. */
function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ch|sh|x|ss)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function splitName(name: string): readonly string[] {
  const words = name
    .slice(0, 400)
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .slice(0, MAX_WORDS)
    .map(singular);
  const own = words.filter((word) => !FILLERS.has(word));
  return own.length > 0 ? own : words;
}

/** Cache of split names, because each is compared with all names of the other document. */
const splitNames = new BoundedMap<string, readonly string[]>(20_000);

/** Splits `createdAt`, `created_at` and `Created-At` into the same words, lower-case and singular. */
export function splitIntoWords(name: string): readonly string[] {
  const known = splitNames.get(name);
  if (known) return known;
  const words = splitName(name);
  splitNames.set(name, words);
  return words;
}

/** Minimum likeness of the spelling of two words, from 0 to 1. */
const SPELLING = 0.6;

/** The likeness of words that were found to have the same meaning. */
const LEARNED = 0.9;

/** Returns the likeness of two words, from 0 to 1: equal, or with a similar spelling (`cancelled`, `canceled`). */
function spellingLikeness(one: string, other: string): number {
  if (one === other) return 1;
  // Nearly all pairs of words end here. Different numbers mean different names: ipv4 and ipv6.
  if (one[0] !== other[0] || /\d/.test(one + other) || Math.min(one.length, other.length) < 4) return 0;
  const likeness = 1 - distance(one, other) / Math.max(one.length, other.length);
  return likeness >= SPELLING ? 0.8 : 0;
}

/**
 * The frequency of words in both documents, and the words of the old document that have the meaning of words of the new
 * one.
 */
export class Vocabulary {
  readonly #counts = new Map<string, number>();
  readonly #meanings = new Map<string, Set<string>>();

  /** Counts the words of a name. */
  count(name: string): void {
    for (const word of new Set(splitIntoWords(name)))
      this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  /** Records that words of the old document have the meaning of words of the new one. */
  learn(old: readonly string[], now: readonly string[]): void {
    for (const word of old)
      this.#meanings.set(word, (this.#meanings.get(word) ?? new Set()).union(new Set(now)));
  }

  /** Returns the likeness of a word of the old document and a word of the new one, from 0 to 1. */
  #wordLikeness(old: string, now: string): number {
    return Math.max(spellingLikeness(old, now), this.#meanings.get(old)?.has(now) ? LEARNED : 0);
  }

  /** Returns the weight of a word. Frequent words have a low weight. */
  #weight(word: string): number {
    return 1 / (1 + Math.log2(1 + (this.#counts.get(word) ?? 0)) / 4);
  }

  /** Returns the likeness of two lists of words, from 0 to 1: the common share of their weights. */
  likeness(old: readonly string[], now: readonly string[]): number {
    if (old.length === 0 || now.length === 0) return 0;
    let [total, common] = [0, 0];
    const add = (word: string, likenesses: readonly number[]): void => {
      total += this.#weight(word);
      common += this.#weight(word) * Math.max(...likenesses);
    };
    for (const word of old)
      add(
        word,
        now.map((other) => this.#wordLikeness(word, other)),
      );
    for (const word of now)
      add(
        word,
        old.map((other) => this.#wordLikeness(other, word)),
      );
    return common / total;
  }
}
