/** Formats values of a trace as text: limited, and without secrets. */
import { isTruncated, type Redaction, type SecretValues } from "../../audit/index.ts";
import { cutText, isExactNumber, printJson } from "../../base/index.ts";

/** Maximum number of characters of a value. */
const MAX_VALUE_LENGTH = 200;

/** Maximum number of values in a value. In larger values, whole objects and lists are omitted, never a part of one. */
const MAX_VALUES = 200;
const MAX_DEPTH = 12;
/** Maximum number of characters of a text that are redacted before it is cut. */
const MAX_TEXT = 20_000;

const LEFT_OUT = "…";

/** Returns a copy with at most this number of values. */
function prune(value: unknown): unknown {
  let left = MAX_VALUES;
  function copy(part: unknown, depth: number): unknown {
    if (typeof part === "string") return part.length > MAX_TEXT ? LEFT_OUT : part;
    if (typeof part !== "object" || part === null || isExactNumber(part)) return part;
    left -= Object.keys(part).length;
    if (left < 0 || depth > MAX_DEPTH) return LEFT_OUT;
    if (Array.isArray(part)) return part.map((item) => copy(item, depth + 1));
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, copy(item, depth + 1)]));
  }
  return copy(value, 0);
}

/**
 * Formats a value as JSON on one line; null if it is missing.
 *
 * @param secrets Values that are replaced everywhere.
 */
export function valueText(value: unknown, redaction: Redaction, secrets?: SecretValues): string | null {
  if (value === undefined) return null;
  const redacted = redaction.value(prune(value), undefined, secrets);
  return cutText(isTruncated(redacted) ? redacted.text : printJson(redacted), MAX_VALUE_LENGTH);
}
