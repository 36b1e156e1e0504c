/** Conversions between values and their JSON text, with shortcuts for plain strings and short numbers. */
import { isDigit, quote } from "./characters.ts";
import { parseJson, printJson } from "./parse.ts";

/** The JSON text of a value. Null stays null, and a missing value stays `undefined`. */
export type JsonText = string | null | undefined;

/** Copies a string, because a slice keeps the whole text in memory. */
export const detachString = (text: string): string => Buffer.from(text).toString();

export const isArrayText = (text: string): boolean => text.startsWith("[");
export const isStringText = (text: string): boolean => text.charCodeAt(0) === quote;

/** A double represents every number with fewer digits exactly. */
const EXACT_LENGTH = 15;

/** Parses the JSON text of a value. */
export function fromJsonText(text: JsonText): unknown {
  if (text === null || text === undefined) return text;
  const first = text.charCodeAt(0);
  if (first === quote) return text.includes("\\") ? parseJson(text) : text.slice(1, -1);
  const isNumber = isDigit(first) && text.length < EXACT_LENGTH;
  if (isNumber && !/e/i.test(text)) return Number(text);
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null") return null;
  return parseJson(text);
}

/** Parses the JSON text of a string. @throws {TypeError} if it is the text of another value */
export function stringFromJson(text: string): string {
  const value = fromJsonText(text);
  if (typeof value !== "string") throw new TypeError("not the JSON text of a string");
  return value;
}

/** Whether a string needs no escapes. */
const isPlain = (text: string): boolean => /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/.test(text);

/** Prints a value. Returns `undefined` for values that JSON can't express. */
export function toJsonText(value: unknown): JsonText {
  if (value === undefined || value === null) return value;
  if (typeof value === "string") return isPlain(value) ? `"${value}"` : printJson(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : null;
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  return printJson(value);
}

/** Normalizes the escapes of a string text, so that equal strings have equal texts. */
export const canonicalString = (text: string): string =>
  text.includes("\\") ? printJson(parseJson(text)) : text;
