/** Names as words, and how much two names have in common. */
import { distance } from "fastest-levenshtein";
import { BoundedMap } from "../../base/index.ts";

/** Words that names have or leave out without another meaning: `created`, `created_at`. */
const FILLERS: ReadonlySet<string> = new Set(["a", "an", "at", "for", "has", "is", "of", "on", "the", "to"]);

/** Words of a name that are compared. Longer names are cut: documents are not trusted. */
const MAX_WORDS = 24;

/** A word without the ending of a plural. */
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

/** Names that have been split: each is compared with all names of the other document. */
const splitNames = new BoundedMap<string, readonly string[]>(20_000);

/** Splits `createdAt`, `created_at` and `Created-At` into the same words, lower-case and singular. */
export function splitIntoWords(name: string): readonly string[] {
  const known = splitNames.get(name);
  if (known) return known;
  const words = splitName(name);
  splitNames.set(name, words);
  return words;
}

/** How alike two words must be spelled, of 1. */
const SPELLING = 0.6;

/** How alike words are that were learned to mean the same. */
const LEARNED = 0.9;

/** How alike two words are, from 0 to 1: equal, or spelled nearly alike (`cancelled`, `canceled`). */
function spellingLikeness(one: string, other: string): number {
  if (one === other) return 1;
  // Nearly all pairs of words end here. A number makes another name: ipv4 and ipv6.
  if (one[0] !== other[0] || /\d/.test(one + other) || Math.min(one.length, other.length) < 4) return 0;
  const likeness = 1 - distance(one, other) / Math.max(one.length, other.length);
  return likeness >= SPELLING ? 0.8 : 0;
}

/** How rare words are in both documents, and which words of the old one have the meaning of words of the new one. */
export class Vocabulary {
  readonly #counts = new Map<string, number>();
  readonly #meanings = new Map<string, Set<string>>();

  /** Counts the words of a name. */
  count(name: string): void {
    for (const word of new Set(splitIntoWords(name)))
      this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  /** Learns that words of the old document have the meaning of words of the new one. */
  learn(old: readonly string[], now: readonly string[]): void {
    for (const word of old)
      this.#meanings.set(word, (this.#meanings.get(word) ?? new Set()).union(new Set(now)));
  }

  /** How alike a word of the old document and one of the new one are, from 0 to 1. */
  #wordLikeness(old: string, now: string): number {
    return Math.max(spellingLikeness(old, now), this.#meanings.get(old)?.has(now) ? LEARNED : 0);
  }

  /** The weight of a word: one that is everywhere says little. */
  #weight(word: string): number {
    return 1 / (1 + Math.log2(1 + (this.#counts.get(word) ?? 0)) / 4);
  }

  /** How alike two lists of words are, from 0 to 1: the part of their weights that both have. */
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
