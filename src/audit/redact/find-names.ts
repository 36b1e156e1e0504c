import type { SecretNames } from "./secret-names.ts";

/** Matches the characters between a name and its value. A tab may also be one of the invisible characters within a name. */
const SIGNS = /["'\\:=>\uff1a\uff1d\uff1e][\s"'\\:=>\uff1a\uff1d\uff1e<]*|\t/g;
/** Matches the word after separators. */
const WORD = /[\s"'\\:=>\uff1a\uff1d\uff1e<]{0,256}([^\s"'\\:=><;,&]{1,1000})/y;
/**
 * Matches the words after separators, up to the next separator. A name may consist of several words. In RFC 8187's
 * form, a charset precedes the value.
 */
const PHRASE =
  /[\s"'\\:=>\uff1a\uff1d\uff1e<]{0,256}(?:(?:utf-8|iso-8859-1|us-ascii)'[^'\s]{0,20}')?([^"'\\:=><;,&\r\n]{0,128})/iy;
/** Matches a member `value`, even within a longer name. Its name may be before or after it. */
export const VALUE_MEMBER = /values?(?![a-z])[[\].\w-]{0,64}\\*["']?\s{0,64}[:=]/i;
/** Number of characters before a separator that are searched for a name. */
const NAME_DISTANCE = 128;
/** Maximum number of names of secrets in one text of unknown format whose values are searched in the rest of the exchange. */
const MAX_NAMES = 33;
const STEPS_OF_NAME = 100;
/** Work for a text before a separator that may be a name. */
const STEPS_OF_TEXT = 25;

interface NameSearch {
  readonly names: SecretNames;
  /** Receives the word after each name, because text that is not redacted may repeat it. Undefined for no words. */
  readonly addSecret: ((word: string) => void) | undefined;
  /** Counts work. @throws above the limit */
  readonly spend: (steps: number) => void;
}

/** Finds the end of a secret name after a separator: `name=root_pass`, `name=root pass`. */
function endOfNameAt(text: string, at: number, names: SecretNames): number | undefined {
  PHRASE.lastIndex = at;
  const phrase = PHRASE.exec(text)?.[1] ?? "";
  const start = PHRASE.lastIndex - phrase.length;
  const ends = phrase.matchAll(/\s+|$/g).map(({ index }) => index);
  const end = ends.find((to) => names.kindOf(phrase.slice(0, to).replace(/(?<!\d)\d+$/, "")) === "secret");
  return end === undefined ? undefined : start + end;
}

/**
 * Finds the secret names in a text of unknown format, such as a script or a sentence. Such a text does not mark the end
 * of a secret, so the whole text after the first name is secret, and so is the text after the first `value`, because
 * its name may follow it.
 *
 * @param text The decoded text.
 * @returns the offset of the secret; undefined if there is no name
 */
export function findNameInText(text: string, { names, addSecret, spend }: NameSearch): number | undefined {
  const secrets: number[] = [];
  let before = 0;
  for (const { index, 0: signs } of text.matchAll(SIGNS)) {
    const behind = index + signs.length;
    const name = text.slice(Math.max(before, index - NAME_DISTANCE), index);
    if (signs !== "\t") before = behind;
    const nameBehind = /name\*?$/i.test(name) ? endOfNameAt(text, behind, names) : undefined;
    if (nameBehind === undefined && !names.maybeIn(`${name}:`)) continue;
    spend(STEPS_OF_TEXT);
    if (nameBehind === undefined && !names.endText(name)) continue;
    secrets.push(nameBehind ?? index + 1);
    before = behind;
    if (!addSecret) break;
    spend(secrets.length > MAX_NAMES ? Infinity : STEPS_OF_NAME);
  }
  const value = secrets.length === 0 ? null : VALUE_MEMBER.exec(text);
  if (value) secrets.push(value.index + value[0].length);
  for (const at of addSecret ? secrets : []) {
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[1];
    if (word !== undefined && names.kindOf(word) !== "secret") addSecret?.(word);
  }
  return secrets.length === 0 ? undefined : Math.min(...secrets);
}
