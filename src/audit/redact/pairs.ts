/** Reads texts of `name=value` pairs: queries, forms, URLs and cookies. */
import { readName } from "./escapes.ts";

const PAIR = /(?<![^?&#;,\s])([^?&#;,\s=]*)=([^?&#;,\s]*)/g;
/** Matches a name or a value. */
const PART = /[^?&#;,\s=]+/g;
const SEPARATOR = /[?&#;,\s=]/g;
const VALUE = /[^?&#;,\s]*/y;
/**
 * Matches a secret value. In a query, a value may contain all other separators (RFC 3986 3.4), and v4 reads them as a
 * part of the value. This includes the number sign: in a request's target it does not start a fragment.
 */
const SECRET_VALUE = /[^&\s]*/y;

/** Whether a text is read as pairs, as in a query, a form or a URL. */
export const looksLikePairs = (text: string): boolean => /[=%]/.test(text) && !/[\s"'{}<>]/.test(text);

/** Returns the most names and values that a text may have. */
export const countParts = (text: string): number => 1 + (text.match(SEPARATOR)?.length ?? 0);

/** Reads the names and values of all pairs. */
export const pairsOf = (text: string): Iterable<readonly [name: string, value: string]> =>
  text.matchAll(PAIR).map(([, name = "", value = ""]) => [readName(name), readName(value)] as const);

/** Returns the names and values, with their offsets. In `a=b=c`, every part except the last is a name. */
export const partsOf = (text: string): RegExpExecArray[] => text.matchAll(PART).toArray();

/** Returns the secret value at an offset, and its part before the first separator of any kind. */
export const valuesAt = (text: string, at: number): [secret: string, value: string] => {
  [SECRET_VALUE.lastIndex, VALUE.lastIndex] = [at, at];
  return [SECRET_VALUE.exec(text)?.[0] ?? "", VALUE.exec(text)?.[0] ?? ""];
};
