import type { MayHaveName } from "./name-scanner.ts";
import { NAMING } from "./redact-pairs.ts";
import type { BodyRedaction } from "./redact-walk.ts";
import { HIDING as IMPORTED_HIDING, MARKS, SIGN, type SecretNames } from "./secret-names.ts";

/** A constant of this module: V8 does not fold imported ones. */
const HIDING = IMPORTED_HIDING;
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LETTER_N = 0x6e;
/** Slots of the caches: a power of two. */
const SLOTS = 2048;

/**
 * Checks that the redaction of a JSON body would change nothing.
 *
 * @param bytes Valid JSON in UTF-8. It has none of the values that `steps` replaces, unless they are escaped.
 * @param end Strings that start before this offset are checked.
 * @param steps The redaction of the body.
 */
export type CleanCheck = (bytes: Buffer, end: number, steps: () => BodyRedaction) => boolean;

/** A string in JSON: its offsets, including its quotation marks, and its marks. */
interface FoundString {
  readonly start: number;
  readonly end: number;
  readonly marks: number;
}

/**
 * Creates the check whether a JSON body must be redacted: one pass over its bytes. Only strings that have all letters of a
 * secret name, or characters that may hide one, are compared with the names.
 *
 * @param mayHaveName The scanner for `secrets`.
 */
export function createCleanCheck(secrets: SecretNames, mayHaveName: MayHaveName): CleanCheck {
  /** Marks of strings without the letters of any secret name. */
  const harmlessMarks = new Int32Array(SLOTS).fill(-1);
  /** Strings that have such letters, but are not secret names: rows of a list repeat them. */
  const harmlessStrings: Uint8Array[] = Array.from({ length: SLOTS }, () => new Uint8Array());

  const isSecretName = (name: string): boolean => secrets.has(name) || secrets.hasTexts(name);

  function hasLetters(slot: number, marks: number): boolean {
    if (secrets.mayHave(marks)) return true;
    harmlessMarks[slot] = marks;
    return false;
  }

  /** @param last The string before, which is the name of the value unless the value is an item of an array. */
  function isClean(
    bytes: Buffer,
    found: FoundString,
    last: FoundString,
    steps: () => BodyRedaction,
  ): boolean {
    const { start, end, marks } = found;
    const isWord = (marks & (SIGN | HIDING)) === 0;
    const slot = slotOf(marks);
    if (isWord && isBetween(harmlessStrings[slot], bytes, start, end)) return true;
    const text = stringAt(bytes, start, end);
    const next = skipWhitespace(bytes, end);
    const isName = bytes[next] === COLON;
    if (isSecretName(text)) {
      // A secret member that is null has no secret.
      if (isName ? bytes[skipWhitespace(bytes, next + 1)] !== LETTER_N : isNaming(bytes, last)) return false;
    } else if (isWord && end - start <= LONGEST_NAME) {
      harmlessStrings[slot] = Uint8Array.from(bytes.subarray(start, end));
    }
    return isWord || (isName && (marks & HIDING) === 0) || steps().text(text) === text;
  }

  return (bytes, end, steps) => {
    const { length } = bytes;
    if (end === length && !mayHaveName(bytes)) return true;
    let lastStart = 0;
    let lastEnd = 0;
    let lastMarks = 0;
    for (let at = 0; at < end;) {
      if (bytes[at] !== QUOTE) {
        at += 1;
        continue;
      }
      const start = at;
      let marks = 0;
      let mark = 0;
      at += 1;
      for (;;) {
        while (at < length && (mark = STRING_MARKS[bytes[at] as number] as number) >= 0) {
          marks |= mark;
          at += 1;
        }
        if (at >= length || mark === END) break;
        marks |= HIDING;
        at += 2;
      }
      at += 1;
      const slot = slotOf(marks);
      if (harmlessMarks[slot] !== marks && hasLetters(slot, marks)) {
        const last = { start: lastStart, end: lastEnd, marks: lastMarks };
        if (!isClean(bytes, { start, end: at, marks }, last, steps)) return false;
      }
      lastStart = start;
      lastEnd = at;
      lastMarks = marks;
    }
    return true;
  };
}

/** Longer names are not cached. */
const LONGEST_NAME = 100;

/** The mark of a quotation mark, which ends a string. */
const END = -1;
/** The mark of a backslash: the next character does not end the string. */
const ESCAPE = -2;
const STRING_MARKS = MARKS.map((mark, code) => (code === QUOTE ? END : code === BACKSLASH ? ESCAPE : mark));

const slotOf = (marks: number): number => (Math.imul(marks, 0x9e3779b1) >>> 16) & (SLOTS - 1);

const LONGEST_NAMING = Math.max(...NAMING.map((name) => name.length)) + 2;

/** Whether a string may be one of {@link NAMING}. */
function isNaming(bytes: Buffer, { start, end, marks }: FoundString): boolean {
  if ((marks & HIDING) !== 0) return true;
  return (
    end > start &&
    end - start <= LONGEST_NAMING &&
    NAMING.includes(bytes.toString("latin1", start + 1, end - 1))
  );
}

const stringAt = (bytes: Buffer, start: number, end: number): string =>
  JSON.parse(bytes.toString("utf8", start, end)) as string;

function skipWhitespace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at += 1;
  return at;
}

/** Whether the bytes between two offsets are equal to others. */
function isBetween(expected: Uint8Array | undefined, bytes: Uint8Array, start: number, end: number): boolean {
  if (expected?.length !== end - start) return false;
  for (let at = 0; at < expected.length; at += 1) if (expected[at] !== bytes[start + at]) return false;
  return true;
}
