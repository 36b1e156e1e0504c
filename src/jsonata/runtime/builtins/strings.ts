import { Failure } from "../failure.ts";
import { Buffer } from "node:buffer";
import { text } from "../values.ts";

/** Built-in functions that encode strings. */
type Coding = (value?: string) => string | undefined;

/** Takes each character as one byte, as JSONata does. */
export const base64encode: Coding = (value) =>
  value === undefined ? undefined : Buffer.from(value, "binary").toString("base64");

export const base64decode: Coding = (value) =>
  value === undefined ? undefined : Buffer.from(value, "base64").toString("binary");

const wellFormed =
  (code: (value: string) => string): Coding =>
  (value) => {
    if (value === undefined) return undefined;
    try {
      return code(value);
    } catch {
      throw new Failure("D3140");
    }
  };

export const encodeUrlComponent: Coding = wellFormed(encodeURIComponent);
export const encodeUrl: Coding = wellFormed(encodeURI);
export const decodeUrlComponent: Coding = wellFormed(decodeURIComponent);
export const decodeUrl: Coding = wellFormed(decodeURI);

/** Built-in functions on strings. Their arguments have been checked; what is missing stays missing. */

type OnString = (value?: string) => string | undefined;

export const string = (value: unknown, pretty?: boolean): string | undefined =>
  value === undefined ? undefined : text(value, pretty);

/** Characters, not halves of them. */
function characters(value: string): string[] {
  const all: string[] = [];
  for (const character of value) all.push(character);
  return all;
}

export const length = (value?: string): number | undefined =>
  value === undefined ? undefined : characters(value).length;

/** A start that is missing is the first character, but then no size can be counted from it. */
export function substring(value?: string, start?: number, size?: number): string | undefined {
  if (value === undefined) return undefined;
  const all = characters(value);
  const from = all.length + (start as number) < 0 ? 0 : (start as number);
  if (size === undefined) return all.slice(from).join("");
  if (size <= 0) return "";
  const end = from >= 0 ? from + size : all.length + from + size;
  return all.slice(from, end).join("");
}

export function substringBefore(value?: string, mark?: string): string | undefined {
  const at = value?.indexOf(mark as string) ?? -1;
  return at === -1 ? value : value?.slice(0, at);
}

export function substringAfter(value?: string, mark?: string): string | undefined {
  const at = value?.indexOf(mark as string) ?? -1;
  return at === -1 ? value : value?.slice(at + (mark as string).length);
}

export const lowercase: OnString = (value) => value?.toLowerCase();

export const uppercase: OnString = (value) => value?.toUpperCase();

/** Makes every run of white space one space, and none at the ends. */
export const trim: OnString = (value) => value?.replaceAll(/[ \t\n\r]+/g, " ").replaceAll(/^ | $/g, "");

/** Fills up to a width, behind the string, or before it when the width is negative. */
export function pad(value?: string, width?: number, filling?: string): string | undefined {
  if (value === undefined) return undefined;
  const wanted = Math.trunc(width as number);
  const missing = Math.abs(wanted) - (length(value) as number);
  if (!(missing > 0)) return value;
  const character = filling || " ";
  const repeated = character.repeat(missing);
  const padding = character.length > 1 ? (substring(repeated, 0, missing) as string) : repeated;
  return wanted > 0 ? value + padding : padding + value;
}

export const join = (values?: readonly string[], separator = ""): string | undefined =>
  values?.join(separator);
