import { decodeFormText, unescapeText } from "./escapes.ts";
import { REDACTED } from "./secret-values.ts";

/** Members that name what a member `value` of the same object or form is. */
export const NAMING: readonly string[] = ["name", "key", "field", "parameter"];

/** What separates the pairs of URLs, forms and cookies. */
const SEPARATOR = /[?&#;,\s]/g;
/** What ends a name or a value. */
const SIGN = /[?&#;,\s=]/g;

export interface PairRedaction {
  readonly isSecretName: (name: string) => boolean;
  /** Whether each `value` is secret, because its name may be missing. */
  readonly isCut: boolean;
  /** Redacts a name or a value. */
  readonly redactPart: (part: string) => string;
  /** Called with each value that is redacted. */
  readonly addSecret: (value: string) => void;
}

/** A name of a form as it is compared. */
const readName = (name: string): string => (/[%+\\]/.test(name) ? unescapeText(decodeFormText(name)) : name);

/** Counts the names and values of a text until there are more than a limit. */
export function countParts(text: string, limit: number): number {
  SIGN.lastIndex = 0;
  let parts = 1;
  while (parts <= limit && SIGN.test(text)) parts += 1;
  return parts;
}

/** The end of the pair that starts at `start`. */
function endOfPair(text: string, start: number): number {
  SEPARATOR.lastIndex = start;
  return SEPARATOR.test(text) ? SEPARATOR.lastIndex - 1 : text.length;
}

/**
 * What ends a secret value: a query may have all other separators in a value (RFC 3986 3.4), and v4 reads them as a part of it.
 * The number sign, too: a client may send it in a request's target, where it starts no fragment.
 */
const END_OF_SECRET = /[&\s]/g;

function endOfSecret(text: string, start: number): number {
  END_OF_SECRET.lastIndex = start;
  return END_OF_SECRET.test(text) ? END_OF_SECRET.lastIndex - 1 : text.length;
}

/** Calls a function with the start and the end of each pair until it returns true. */
function somePair(text: string, isMatch: (start: number, end: number) => boolean): boolean {
  for (let start = 0; start < text.length;) {
    const end = endOfPair(text, start);
    if (end > start && isMatch(start, end)) return true;
    start = end + 1;
  }
  return false;
}

/**
 * Redacts a text of `name=value` pairs, such as a query. Of `a=b=c` each part but the last is a name. Only parts that change
 * are copied, because a client can send tens of thousands of them.
 */
export function redactPairs(text: string, options: PairRedaction): string {
  const { isSecretName, redactPart, addSecret } = options;
  let redacted = "";
  /** The text before this offset is redacted. */
  let done = 0;
  /** The first equals sign at or after the offset that was searched last. */
  let sign = text.indexOf("=");
  let valuesAreSecret: boolean | undefined;

  function replace(start: number, end: number, by: string): void {
    redacted += text.slice(done, start) + by;
    done = end;
  }

  function redactPartAt(start: number, end: number): void {
    const part = text.slice(start, end);
    const replacement = redactPart(part);
    if (replacement !== part) replace(start, end, replacement);
  }

  /** A pair `key=password` says that the value of a pair `value=…` is secret. */
  const areValuesSecret = (): boolean =>
    somePair(text, (start, end) => {
      const pair = text.slice(start, end);
      const at = pair.indexOf("=");
      return (
        at >= 0 && NAMING.includes(readName(pair.slice(0, at))) && isSecretName(readName(pair.slice(at + 1)))
      );
    });

  function isSecret(name: string): boolean {
    const readable = readName(name);
    if (isSecretName(readable)) return true;
    return readable === "value" && (valuesAreSecret ??= options.isCut || areValuesSecret());
  }

  somePair(text, (start, end) => {
    // The rest of a secret that was redacted.
    if (start < done) return false;
    let at = start;
    if (sign >= 0 && sign < start) sign = text.indexOf("=", start);
    while (sign >= 0 && sign < end) {
      if (isSecret(text.slice(at, sign))) {
        const whole = endOfSecret(text, sign + 1);
        addSecret(text.slice(sign + 1, end));
        if (whole > end) addSecret(text.slice(sign + 1, whole));
        replace(sign + 1, whole, REDACTED);
        return false;
      }
      redactPartAt(at, sign);
      at = sign + 1;
      sign = text.indexOf("=", at);
    }
    redactPartAt(at, end);
    return false;
  });
  return done === 0 ? text : redacted + text.slice(done);
}
