import type { Edit } from "./edits.ts";
import type { SecretNames } from "./secret-names.ts";
import type { SecretValues } from "./secret-values.ts";

/** Characters between a name and its value. */
const SIGNS = /["'\\:=>\uff1a\uff1d\uff1e][\s"'\\:=>\uff1a\uff1d\uff1e<]*/g;
/** The word after them. A name in RFC 8187's form has a charset before the value. */
const WORD =
  /[\s"'\\:=>\uff1a\uff1d\uff1e<]{0,256}(?:(?:utf-8|iso-8859-1|us-ascii)'[^'\s]{0,20}')?([^\s"'\\:=><;,&]{1,1000})/iy;
/** The rest of a line from a word on, up to a separator. A name may consist of several words. */
const PHRASE = /[^"'\\:=><;,&\r\n]{0,128}/y;
/** The text before a name without a separator: `name=root_pass`, `name*=utf-8''root_pass`. */
const FORM_NAME = /(?:name\*?|utf-8|iso-8859-1|us-ascii)$/i;
/** A member `value`, also as a word of a longer name or within a path of names. Its name may be before or after it. */
const VALUE_MEMBER =
  /["'&?[.](?:[\w-]{0,64}[_-]|[\w-]{0,64}[a-z\d](?-i:(?=V)))?values?[\d_-]{0,16}(?:[[\].][[\].\w]{0,64})?\\*["']?\s*[:=]/i;
/** The number of characters before a separator that are searched for a name. */
const NAME_DISTANCE = 128;
/** Names of secrets in one text of unknown format, whose values are searched for in the rest of the exchange. */
const MAX_NAMES = 33;
const STEPS_OF_NAME = 4;

export interface NameSearch {
  readonly names: SecretNames;
  /** Collects the word after each name, because text that is not redacted may repeat it. */
  readonly found: SecretValues | undefined;
  /** Counts work. @returns false if there was too much */
  readonly spend: (steps: number) => boolean;
}

/** Whether an unreadable text contains a member `value`. Its name may be secret. */
export const hasValueMember = (text: string): boolean => VALUE_MEMBER.test(text);

/** The word at an offset, after separators. */
function wordAt(text: string, at: number): { readonly word: string; readonly end: number } {
  WORD.lastIndex = at;
  const word = WORD.exec(text)?.[1] ?? "";
  return { word, end: word === "" ? at : WORD.lastIndex };
}

/**
 * Finds the secret name at an offset, after separators: `root_pass`, `root pass`. @returns The offset of its end;
 * undefined without a name
 */
function endOfNameAt(text: string, at: number, names: SecretNames): number | undefined {
  const { word, end } = wordAt(text, at);
  if (word === "") return undefined;
  const isName = (name: string): boolean => names.kindOf(name.replace(/(?<!\d)\d+$/, "")) === "secret";
  if (isName(word)) return end;
  const start = (PHRASE.lastIndex = end - word.length);
  const phrase = PHRASE.exec(text)?.[0] ?? "";
  const ends = phrase.matchAll(/\s+|$/g).map(({ index }) => index);
  const length = ends.find((each) => isName(phrase.slice(0, each)));
  return length === undefined ? undefined : start + length;
}

/**
 * Finds the secret names in a text of unknown format, such as a script or a sentence. Nothing marks the end of a
 * secret in such a text, so everything after the first name is replaced, and everything after the first `value`,
 * because its name may follow it.
 *
 * @param text Without escapes.
 */
export function findNamesInText(text: string, search: NameSearch): Edit[] {
  // A tab separates a name from its value, or is one of the invisible characters within a name.
  const readings = text.includes("\t") ? [text.replaceAll("\t", " "), text.replaceAll("\t", "=")] : [text];
  const placesOf = readings.map((each) => [...findPlaces(each, search)]);
  const places = placesOf.flat();
  if (places.length === 0) return [];
  if (placesOf.some(({ length }) => length > MAX_NAMES))
    search.found?.markIncomplete("a text that is no JSON and no form has too many names of secrets");
  const value = VALUE_MEMBER.exec(text);
  if (value) {
    places.push(value.index + value[0].length);
    search.found?.add(wordAt(text, value.index + value[0].length).word);
  }
  return [{ start: Math.min(...places), end: text.length }];
}

/** The offsets after secret names, at most {@link MAX_NAMES} + 1. If no values are collected, only the first one. */
function* findPlaces(text: string, { names, found, spend }: NameSearch): Generator<number> {
  let left = found ? MAX_NAMES + 1 : 1;
  let before = 0;
  for (const { index, 0: signs } of text.matchAll(SIGNS)) {
    const name = text.slice(Math.max(before, index - NAME_DISTANCE), index);
    before = index + signs.length;
    const next = FORM_NAME.test(name) ? endOfNameAt(text, before, names) : undefined;
    if (next === undefined && !names.maybeIn(`${name}:`)) continue;
    if (!spend(1)) return;
    if (next === undefined && !names.endText(name)) continue;
    const place = next ?? index + 1;
    const { word } = wordAt(text, place);
    if (word !== "" && names.kindOf(word) !== "secret") found?.add(word);
    yield place;
    if (!spend(STEPS_OF_NAME) || --left === 0) return;
  }
}
