/** Values as their JSON text: what is only handed on stays the text that it came as. */
import { parseJson, printJson } from "./parse.ts";

/** The JSON text of a value; null stands for itself, and so does what is missing. */
export type JsonText = string | null | undefined;

/** A text in one piece, that keeps no other alive. */
export const detachString = (text: string): string => Buffer.from(text).toString();

export const isArrayText = (text: string): boolean => text.startsWith("[");
export const isStringText = (text: string): boolean => text.charCodeAt(0) === quote;

const quote = 0x22;
const zero = 0x30;
const nine = 0x39;

/** A number of fewer digits is one that a double holds. */
const EXACT_LENGTH = 15;

/** The value that a text stands for. */
export function fromJsonText(text: JsonText): unknown {
  if (text === null || text === undefined) return text;
  const first = text.charCodeAt(0);
  if (first === quote) return text.includes("\\") ? parseJson(text) : text.slice(1, -1);
  const isNumber = first >= zero && first <= nine && text.length < EXACT_LENGTH;
  if (isNumber && !/e/i.test(text)) return Number(text);
  return parseJson(text);
}

/** Whether a string stands between quotes as it is. */
const isPlain = (text: string): boolean => /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/.test(text);

/** The text of a value. What JSON has no word for is missing. */
export function toJsonText(value: unknown): JsonText {
  if (value === undefined || value === null) return value;
  if (typeof value === "string") return isPlain(value) ? `"${value}"` : printJson(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : null;
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  return printJson(value);
}

/** The one way of writing a string: a text with escapes in it may mean the same as one without. */
export const canonicalString = (text: string): string =>
  text.includes("\\") ? printJson(parseJson(text)) : text;
