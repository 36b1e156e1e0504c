/** Values of a trace as text: bounded, and without secrets. */
import { isTruncated, type Redaction, type SecretValues } from "../../audit/index.ts";
import { isExactNumber, printJson } from "../../base/index.ts";

/** Characters of a value. */
export const MAX_VALUE_LENGTH = 200;

/** Values in a value. Of larger ones whole objects and lists are left out, never a part of one. */
const MAX_VALUES = 200;
const MAX_DEPTH = 12;
/** Characters of a text that are redacted before it is cut. */
const MAX_TEXT = 20_000;

const LEFT_OUT = "…";

/** A copy with at most this many values. Functions have no value that could be printed. */
function prune(value: unknown): unknown {
  let left = MAX_VALUES;
  function copy(part: unknown, depth: number): unknown {
    if (typeof part === "function") return "(function)";
    if (typeof part === "string") return part.length > MAX_TEXT ? LEFT_OUT : part;
    if (typeof part !== "object" || part === null || isExactNumber(part)) return part;
    // Lists of the engine have hidden marks beside their items.
    const isList = Array.isArray(part);
    const names = isList ? [] : Object.keys(part);
    left -= isList ? part.length : names.length;
    if (left < 0 || depth > MAX_DEPTH) return LEFT_OUT;
    if (isList) return Array.from(part, (item) => copy(item, depth + 1));
    return Object.fromEntries(
      names.map((name) => [name, copy((part as Record<string, unknown>)[name], depth + 1)]),
    );
  }
  return copy(value, 0);
}

/** Cuts a text, and says so. */
export const cut = (text: string): string =>
  text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH)}${LEFT_OUT}`;

/**
 * A value as JSON on one line; null for none.
 *
 * @param secrets Values that are replaced everywhere.
 */
export function valueText(value: unknown, redaction: Redaction, secrets?: SecretValues): string | null {
  if (value === undefined) return null;
  const redacted = redaction.value(prune(value), undefined, secrets);
  return cut(isTruncated(redacted) ? redacted.text : printJson(redacted));
}
