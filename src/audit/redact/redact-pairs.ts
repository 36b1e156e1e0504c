import type { Edit } from "./edits.ts";
import { readName } from "./escapes.ts";
import type { SecretNames } from "./secret-names.ts";

/** Matches a name or a value in a URL, a form or a cookie. */
const PART = /[^?&#;,\s=]+/g;
/** Matches a pair of a name and a value. */
const PAIR = /(?<![^?&#;,\s])([^?&#;,\s=]*)=([^?&#;,\s]*)/g;
/** Matches the end of a value. */
const END = /[?&#;,\s]|$/g;
/**
 * Matches the end of a secret value. In a query, a value may contain all other separators (RFC 3986 3.4), and v4 reads
 * them as a part of the value. This includes the number sign: in a request's target it does not start a fragment.
 */
const END_OF_SECRET = /[&\s]|$/g;

/** Whether a text is read as pairs, as in a query, a form or a URL. */
export const looksLikePairs = (text: string): boolean => /[=%]/.test(text) && !/[\s"'{}<>]/.test(text);

interface PairRedaction {
  readonly names: SecretNames;
  /** Redacts a name or a value. */
  readonly redactPart: (part: string) => string;
  /** Called with each value that is redacted. */
  readonly addSecret: (value: string) => void;
}

/** Counts the names and values of a text, up to a limit. */
export function countParts(text: string, limit: number): number {
  const signs = text.matchAll(/[?&#;,\s=]/g);
  let parts = 1;
  while (parts <= limit && !signs.next().done) parts += 1;
  return parts;
}

/** The offset of the next match of a pattern. */
function findFrom(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.exec(text)?.index ?? text.length;
}

/** Redacts a text that consists of `name=value` pairs, such as a query. In `a=b=c`, every part except the last is a name. */
export function redactPairs(text: string, { names, redactPart, addSecret }: PairRedaction): Edit[] {
  const edits: Edit[] = [];
  let areValuesSecret: boolean | undefined;
  const pairs = text
    .matchAll(PAIR)
    .map(([, name = "", value = ""]) => [readName(name), readName(value)] as const);

  function isSecret(part: string): boolean {
    const kind = names.kindOf(readName(part));
    return kind === "value" ? (areValuesSecret ??= names.hasIn(pairs)) : kind !== "none";
  }

  /** The text before this offset has been processed. */
  let done = 0;
  for (const { index, 0: part } of text.matchAll(PART)) {
    if (index < done) continue;
    const end = index + part.length;
    if (text[end] === "=" && isSecret(part)) {
      const start = end + 1;
      done = findFrom(END_OF_SECRET, text, start);
      addSecret(text.slice(start, findFrom(END, text, start)));
      addSecret(text.slice(start, done));
      edits.push({ start, end: done });
    } else {
      const by = redactPart(part);
      if (by !== part) edits.push({ start: index, end, by });
    }
  }
  return edits;
}
