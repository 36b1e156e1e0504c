import type { SecretNames } from "./secret-names.ts";
import type { SecretValues } from "./secret-values.ts";

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
const VALUE_MEMBER = /values?(?![a-z])[[\].\w-]{0,64}\\*["']?\s{0,64}[:=]/i;
/** Number of characters before a separator that are searched for a name. */
const NAME_DISTANCE = 128;
/** Maximum number of names of secrets in one text of unknown format whose values are searched in the rest of the exchange. */
const MAX_NAMES = 33;
const STEPS_OF_NAME = 4;

interface NameSearch {
  readonly names: SecretNames;
  /** Receives the word after each name, because text that is not redacted may repeat it. */
  readonly found: SecretValues | undefined;
  /** Counts work. @returns false if the limit is exceeded */
  readonly spend: (steps: number) => boolean;
}

/** Whether an unreadable text contains a member `value`. Its name may be secret. */
export const hasValueMember = (text: string): boolean => VALUE_MEMBER.test(text);

function addWord(text: string, at: number, { names, found }: NameSearch): void {
  WORD.lastIndex = at;
  const word = found && WORD.exec(text)?.[1];
  if (word !== undefined && names.kindOf(word) !== "secret") found?.add(word);
}

/**
 * Finds the secret name after a separator: `name=root_pass`, `name=root pass`. @returns the offset of its end;
 * undefined if there is no name
 */
function endOfNameAt(text: string, at: number, names: SecretNames): number | undefined {
  PHRASE.lastIndex = at;
  const phrase = PHRASE.exec(text)?.[1] ?? "";
  for (const { index } of phrase.matchAll(/\s+|$/g))
    if (names.kindOf(phrase.slice(0, index).replace(/(?<!\d)\d+$/, "")) === "secret")
      return PHRASE.lastIndex - phrase.length + index;
  return undefined;
}

/**
 * Finds the secret names in a text of unknown format, such as a script or a sentence. Such a text does not mark the end
 * of a secret, so the whole text after the first name is secret, and so is the text after the first `value`, because
 * its name may follow it.
 *
 * @param text The decoded text.
 * @returns the offset of the secret; undefined if there is no name
 */
export function findNameInText(text: string, search: NameSearch): number | undefined {
  const { names, found, spend } = search;
  let first: number | undefined;
  let [count, before] = [0, 0];
  for (const { index, 0: signs } of text.matchAll(SIGNS)) {
    const behind = index + signs.length;
    const name = text.slice(Math.max(before, index - NAME_DISTANCE), index);
    if (signs !== "\t") before = behind;
    const nameBehind = /name\*?$/i.test(name) ? endOfNameAt(text, behind, names) : undefined;
    if (nameBehind === undefined && !names.maybeIn(`${name}:`)) continue;
    if (!spend(1)) break;
    if (nameBehind === undefined && !names.endText(name)) continue;
    const place = nameBehind ?? index + 1;
    first ??= place;
    before = behind;
    count += 1;
    if (count > MAX_NAMES)
      found?.markIncomplete("a text that is no JSON and no form has too many names of secrets");
    if (!found || !spend(STEPS_OF_NAME) || count > MAX_NAMES) break;
    addWord(text, place, search);
  }
  const value = first === undefined ? null : VALUE_MEMBER.exec(text);
  if (first === undefined || !value) return first;
  addWord(text, value.index + value[0].length, search);
  return Math.min(first, value.index + value[0].length);
}
