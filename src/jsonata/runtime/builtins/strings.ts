import { checkText } from "../guard.ts";
import { printText } from "../values.ts";

// String functions. Their signatures have been checked; undefined remains undefined.

type OnString = (value?: string) => string | undefined;

/** `$string`: prints a value. @param pretty Whether to indent it. */
export const string = (value: unknown, pretty?: boolean): string | undefined =>
  value === undefined ? undefined : printText(value, pretty);

/** Splits a string into characters (code points, not UTF-16 units). */
function characters(value: string): string[] {
  const all: string[] = [];
  for (const character of value) all.push(character);
  return all;
}

const SURROGATE = /[\ud800-\udfff]/;

/** A sequence of characters: the string itself, unless one of its characters has two UTF-16 units. */
const indexCharacters = (value: string): string | string[] =>
  SURROGATE.test(value) ? characters(value) : value;

/** `$substring`. Without a start the whole string is meant, but then a size has no effect. */
export function substring(value?: string, start?: number, size?: number): string | undefined {
  if (value === undefined) return undefined;
  const all = indexCharacters(value);
  const cut = (first: number, end?: number): string => {
    const part = all.slice(first, end);
    return typeof part === "string" ? part : part.join("");
  };
  const from = all.length + (start as number) < 0 ? 0 : (start as number);
  if (size === undefined) return cut(from);
  if (size <= 0) return "";
  const end = from >= 0 ? from + size : all.length + from + size;
  return cut(from, end);
}

/** `$substringBefore`: the part before the first occurrence of `mark`; the whole string without one. */
export function substringBefore(value?: string, mark?: string): string | undefined {
  const at = value?.indexOf(mark as string) ?? -1;
  return at === -1 ? value : value?.slice(0, at);
}

/** `$substringAfter`: the part after the first occurrence of `mark`; the whole string without one. */
export function substringAfter(value?: string, mark?: string): string | undefined {
  const at = value?.indexOf(mark as string) ?? -1;
  return at === -1 ? value : value?.slice(at + (mark as string).length);
}

/** `$lowercase`. */
export const lowercase: OnString = (value) => value?.toLowerCase();

/** `$uppercase`. */
export const uppercase: OnString = (value) => value?.toUpperCase();

/** `$trim`: replaces each run of white space by one space, and removes it at the start and the end. */
export const trim: OnString = (value) => value?.replaceAll(/[ \t\n\r]+/g, " ").replaceAll(/^ | $/g, "");

/** `$join`: joins strings with a separator. */
export function join(values?: readonly string[], separator = ""): string | undefined {
  if (values === undefined) return undefined;
  const separators = separator.length * Math.max(0, values.length - 1);
  checkText(
    values.reduce((length, value) => length + value.length, separators),
    "$join",
  );
  return values.join(separator);
}
