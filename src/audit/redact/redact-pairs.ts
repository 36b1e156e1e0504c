import type { Edit } from "./edits.ts";
import { readName } from "./escapes.ts";
import type { SecretNames } from "./secret-names.ts";

/** A pair of a URL, a form or a cookie. */
const PAIR = /[^?&#;,\s]+/g;
/** The characters that end a name or a value. */
const SIGN = /[?&#;,\s=]/g;
/**
 * The characters that end a secret value. In a query a value may contain all other separators (RFC 3986 3.4), and v4
 * reads them as a part of it. This includes the number sign: in a request's target it does not start a fragment.
 */
const END_OF_SECRET = /[&\s]|$/g;

/** Whether a text is read as pairs, as in a query, a form or a URL. */
export const looksLikePairs = (text: string): boolean => /[=%]/.test(text) && !/[\s"'{}<>]/.test(text);

export interface PairRedaction {
  readonly names: SecretNames;
  /** Redacts a name or a value. */
  readonly redactPart: (part: string) => string;
  /** Called with each value that is redacted. */
  readonly addSecret: (value: string) => void;
}

/** Counts the names and values of a text, up to a limit. */
export function countParts(text: string, limit: number): number {
  SIGN.lastIndex = 0;
  let parts = 1;
  while (parts <= limit && SIGN.test(text)) parts += 1;
  return parts;
}

/** The pairs of a text that have a value. */
function* pairsOf(text: string): Generator<readonly [name: string, value: string]> {
  for (const [pair] of text.matchAll(PAIR)) {
    const [name = "", ...value] = pair.split("=");
    if (value.length > 0) yield [readName(name), readName(value.join("="))];
  }
}

/** Redacts a text of `name=value` pairs, such as a query. In `a=b=c`, every part except the last is a name. */
export function redactPairs(text: string, { names, redactPart, addSecret }: PairRedaction): Edit[] {
  const edits: Edit[] = [];
  let areValuesSecret: boolean | undefined;
  /** The text before this offset is a secret. */
  let done = 0;

  function isSecret(part: string): boolean {
    const kind = names.kindOf(readName(part));
    return kind === "value" ? (areValuesSecret ??= names.hasIn(pairsOf(text))) : kind !== "none";
  }

  for (const { index, 0: pair } of text.matchAll(PAIR)) {
    let start = index;
    if (start < done) continue;
    const end = index + pair.length;
    for (let sign = text.indexOf("=", start); start < end; sign = text.indexOf("=", start)) {
      const to = sign === -1 || sign > end ? end : sign;
      const part = text.slice(start, to);
      if (to < end && isSecret(part)) {
        END_OF_SECRET.lastIndex = to + 1;
        done = END_OF_SECRET.exec(text)?.index ?? text.length;
        addSecret(text.slice(to + 1, end));
        if (done > end) addSecret(text.slice(to + 1, done));
        edits.push({ start: to + 1, end: done });
        break;
      }
      const by = redactPart(part);
      if (by !== part) edits.push({ start, end: to, by });
      start = to + 1;
    }
  }
  return edits;
}
