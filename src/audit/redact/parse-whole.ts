import { isExactNumber } from "../../base/index.ts";
import { endOfString, isTooMuchJson, tryParse } from "../record/json-text.ts";

const QUOTE = 0x22;
const COLON = 0x3a;

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countMembers(item);
  else for (const name in value) count += 1 + countMembers(Reflect.get(value, name));
  return count;
}

/** Counts the colons outside of strings: one for each member. */
function countColons(text: string): number {
  let colons = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) colons += 1;
  }
  return colons;
}

/**
 * Parses JSON in which all secrets can be found. Returns undefined for other texts, for texts above the limits, and
 * if an object repeats a member: `JSON.parse` keeps only the last value, and other programs may read the first.
 */
export function parseWhole(text: string): { readonly value: unknown } | undefined {
  const parsed = isTooMuchJson(text) ? undefined : tryParse(text);
  return parsed && countMembers(parsed.value) === countColons(text) ? parsed : undefined;
}
