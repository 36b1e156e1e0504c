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

/** Where a name ends that starts at an offset of some words. Undefined if others are there. */
function endOfName(name: string, words: string, start: number): number | undefined {
  let at = start;
  for (let letter = 0; letter < name.length; letter += 1) {
    if (letter > 0 && words[at] === "_") at += 1;
    if (words[at] !== name[letter]) return undefined;
    at += 1;
  }
  return at;
}

/** A place of a rule's name in some words. */
interface Found extends Range {
  readonly rule: NameRule;
}

/** All places of the names of some rules in some words, wherever they count. */
function findNames(rules: readonly NameRule[], words: string): Found[] {
  const letters = joinWords(words);
  const found: Found[] = [];
  for (const rule of rules) {
    if (!letters.includes(rule.name)) continue;
    for (let start = 0; start < words.length; start += 1) {
      const end = endOfName(rule.name, words, start);
      if (end !== undefined) found.push({ rule, start, end });
    }
  }
  return found;
}

/** The places of some rules in some words (`foldName`), where they count. */
const findApplied = (rules: readonly NameRule[], words: string): Found[] =>
  findNames(rules, words).filter((found) => FITS[found.rule.place](words, found));

/** Whether one of some rules applies to some words. */
export const anyApplies = (rules: readonly NameRule[], words: string): boolean =>
  findApplied(rules, words).length > 0;

/** The words without the names of some rules. A dot is instead of each, so that the words beside it are not joined. */
export function without(rules: readonly NameRule[], words: string): string {
  let rest = "";
  let done = 0;
  const inOrder = findApplied(rules, words).toSorted(
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
export const anyAppliesAtEnd = (rules: readonly NameRule[], words: string): boolean =>
  findNames(rules, words).some((found) =>
    found.rule.place === "alone"
      ? isLast(words, found)
      : FITS[found.rule.place](words, found) && words.length - found.end <= MAX_REST_OF_NAME,
  );

/** The words without the name at their end, if it is that of a rule. */
export function withoutLast(rules: readonly NameRule[], words: string): string {
  const starts = findNames(rules, words).flatMap((found) => (isLast(words, found) ? [found.start] : []));
  return starts.length === 0 ? words : `${words.slice(0, Math.min(...starts))}.`;
}
