/** The rules of a pack about names, and where they apply in a name. */
import { joinWords, foldName } from "./fold-name.ts";
import type { ScannedName } from "./name-scanner.ts";

/** A rule about names. Its name is compared without the signs between words: `root_pass`, `rootPass` and `rootpass` are one. */
export interface NameRule extends ScannedName {
  /** Whether the values of the name are secret, or only if they are texts, or not at all. */
  readonly kind: "secret" | "texts" | "harmless";
}

/** A range of the characters of some words. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a rule.
 *
 * @param written As the pack spells it. `root_pass` is secret alone, as a whole name. `*password*` is also secret anywhere
 *   within longer names, such as `new_password`. `_pin_` is also secret as a part of a longer name: it matches `card_pin` and
 *   `pinCode`, but not `spin`. `!token_type` and `!*secretar*` are exceptions, alone and anywhere. `tokens[]`: texts in such
 *   a list are secret, and objects are searched.
 */
export function readRule(written: string): NameRule {
  const name = joinWords(foldName(written.replaceAll(/^!|\*|\[\]$/g, "")));
  if (written.startsWith("!"))
    return { name, place: written.startsWith("!*") ? "anywhere" : "alone", kind: "harmless" };
  if (written.endsWith("[]")) return { name, place: "alone", kind: "texts" };
  if (written.startsWith("*")) return { name, place: "anywhere", kind: "secret" };
  return { name, place: /^_.*_$/.test(written) ? "part" : "alone", kind: "secret" };
}

/** Rules that are searched together. */
export interface RuleSet {
  readonly all: readonly NameRule[];
  /** The rules that can only be a whole name of a path, by their names. */
  readonly wholeNames: ReadonlyMap<string, NameRule>;
  /** The other rules, which are searched within names. */
  readonly within: readonly NameRule[];
}

/** Prepares rules for searches. */
export function ruleSet(all: readonly NameRule[]): RuleSet {
  const isWholeName = ({ place, name }: NameRule): boolean => place === "alone" && !name.includes(".");
  return {
    all,
    wholeNames: new Map(all.filter(isWholeName).map((rule) => [rule.name, rule])),
    within: all.filter((rule) => !isWholeName(rule)),
  };
}

const isLetter = (char: string | undefined): boolean => char !== undefined && /[a-z]/.test(char);

/** Whether a name of a path starts or ends at a character. */
const isEdge = (char: string | undefined): boolean => char === undefined || char === ".";

/** Whether a range of some words is a whole name of their path. */
const isWholeName = (words: string, { start, end }: Range): boolean =>
  isEdge(words[words[start - 1] === "_" ? start - 2 : start - 1]) &&
  isEdge(words[words[end] === "_" ? end + 1 : end]);

/** Whether no letter is next to a range of some words. */
const hasNoLetterBeside = (words: string, { start, end }: Range): boolean =>
  !isLetter(words[start - 1]) && !isLetter(words[end]);

const FITS: Readonly<Record<NameRule["place"], (words: string, part: Range) => boolean>> = {
  alone: isWholeName,
  part: hasNoLetterBeside,
  anywhere: () => true,
};

/** A place of a rule's name in some words. */
interface Found extends Range {
  readonly rule: NameRule;
}

/** The offsets in some words of the characters that `joinWords` keeps. */
function offsetsOfLetters(words: string): readonly number[] {
  const offsets: number[] = [];
  for (let at = 0; at < words.length; at += 1) if (words[at] !== "_") offsets.push(at);
  return offsets;
}

/** Finds the names of some rules in some words, wherever they count. Strangers choose the words: a search is linear. */
function* findNames(rules: readonly NameRule[], words: string): Generator<Found> {
  const letters = joinWords(words);
  let offsets: readonly number[] | undefined;
  for (const rule of rules) {
    const { length } = rule.name;
    for (let at = letters.indexOf(rule.name); at >= 0; at = letters.indexOf(rule.name, at + 1)) {
      offsets ??= offsetsOfLetters(words);
      yield { rule, start: offsets[at] ?? 0, end: (offsets[at + length - 1] ?? 0) + 1 };
    }
  }
}

/** Finds some rules in some words (`foldName`), where they count. */
function* findApplied({ wholeNames, within }: RuleSet, words: string): Generator<Found> {
  // Most rules are whole names, which a map finds faster than a search.
  let start = 0;
  for (const name of words.split(".")) {
    const rule = wholeNames.get(joinWords(name));
    const end = start + name.length;
    if (rule)
      yield { rule, start: start + Number(name.startsWith("_")), end: end - Number(name.endsWith("_")) };
    start += name.length + 1;
  }
  for (const found of findNames(within, words)) if (FITS[found.rule.place](words, found)) yield found;
}

/** Whether one of some rules applies to some words. */
export const anyApplies = (rules: RuleSet, words: string): boolean =>
  findApplied(rules, words).next().done === false;

/** The words without the names of some rules. A dot is instead of each, so that the words beside it are not joined. */
export function without(rules: RuleSet, words: string): string {
  let rest = "";
  let done = 0;
  const inOrder = [...findApplied(rules, words)].sort(
    (one, other) => one.start - other.start || other.end - one.end,
  );
  for (const { start, end } of inOrder) {
    if (start < done) continue;
    rest += `${words.slice(done, start)}.`;
    done = end;
  }
  return rest + words.slice(done);
}

// The end of a text before a sign such as a colon: other words may be before a name.

/** The number of characters that may follow a name, up to the sign: the rest of a longer name. */
const MAX_REST_OF_NAME = 32;

/** Whether a range is at the end of some words, and at the start of a word. One sign may follow it. */
const isLast = (words: string, { start, end }: Range): boolean =>
  !isLetter(words[start - 1]) && /^[_.]?$/.test(words.slice(end));

/** Whether one of some rules applies to the end of some words. */
export function anyAppliesAtEnd({ all }: RuleSet, words: string): boolean {
  for (const found of findNames(all, words)) {
    const isAtEnd =
      found.rule.place === "alone"
        ? isLast(words, found)
        : FITS[found.rule.place](words, found) && words.length - found.end <= MAX_REST_OF_NAME;
    if (isAtEnd) return true;
  }
  return false;
}

/** The words without the name at their end, if it is that of a rule. */
export function withoutLast({ all }: RuleSet, words: string): string {
  const starts = [...findNames(all, words)].flatMap((found) => (isLast(words, found) ? [found.start] : []));
  return starts.length === 0 ? words : `${words.slice(0, Math.min(...starts))}.`;
}
