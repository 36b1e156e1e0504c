import { NAMING, type RedactBody } from "./redact-walk.ts";
import { HIDING as IMPORTED_HIDING, MARKS, SIGN, type SecretNames } from "./secret-names.ts";

/** A constant of this module: V8 does not fold imported ones. */
const HIDING = IMPORTED_HIDING;
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LETTER_N = 0x6e;
/** Slots of what is remembered. */
const SLOTS = 256;

/**
 * Whether the redaction of a JSON body would change nothing.
 *
 * @param bytes Valid JSON in UTF-8. None of the values that `steps` replaces stands in it as it is.
 * @param end Strings that begin before this offset are checked.
 * @param steps The redaction of the body.
 */
export type CleanCheck = (bytes: Buffer, end: number, steps: () => RedactBody) => boolean;

/** A string in JSON: its offsets, quotation marks included, and its marks (`marksOf`). */
interface FoundString {
  start: number;
  end: number;
  marks: number;
}

/**
 * Creates the check whether a JSON body has to be redacted: one pass over its bytes. It looks closer only at strings
 * that have all letters of a secret name, or characters that may hide one.
 */
export function createCleanCheck(secrets: SecretNames): CleanCheck {
  /** Marks of strings without the letters of any secret name. */
  const harmlessMarks = new Int32Array(SLOTS).fill(-1);
  /** Names of members that have such letters and are not secret: rows of a list repeat them. */
  const harmlessNames: Uint8Array[] = Array.from({ length: SLOTS }, () => new Uint8Array());

  function isHarmless(marks: number, slot: number): boolean {
    if (secrets.mayHold(marks)) return false;
    harmlessMarks[slot] = marks;
    return true;
  }

  const isSecretName = (name: string): boolean => secrets.has(name) || secrets.hasTexts(name);

  /** That the value of a secret member is null is no secret. `next`: the offset behind the colon. */
  function isCleanName(bytes: Buffer, found: FoundString, slot: number, next: number): boolean {
    const { start, end } = found;
    if (isBetween(harmlessNames[slot], bytes, start, end)) return true;
    if (isSecretName(stringAt(bytes, found))) return bytes[skipWhitespace(bytes, next)] === LETTER_N;
    harmlessNames[slot] = Uint8Array.from(bytes.subarray(start, end));
    return true;
  }

  /** @param last The string before, which is the name of the value where it is no item of an array. */
  function isCleanValue(
    bytes: Buffer,
    found: FoundString,
    last: FoundString,
    steps: () => RedactBody,
  ): boolean {
    if (isNaming(bytes, last) && isSecretName(stringAt(bytes, found))) return false;
    if ((found.marks & (SIGN | HIDING)) === 0) return true;
    const text = stringAt(bytes, found);
    return steps().text(text) === text;
  }

  function isClean(
    bytes: Buffer,
    slot: number,
    found: FoundString,
    last: FoundString,
    steps: () => RedactBody,
  ): boolean {
    if (isHarmless(found.marks, slot)) return true;
    const next = skipWhitespace(bytes, found.end);
    if (bytes[next] !== COLON) return isCleanValue(bytes, found, last, steps);
    if (!isCleanName(bytes, found, slot, next + 1)) return false;
    if ((found.marks & HIDING) === 0) return true;
    const text = stringAt(bytes, found);
    return steps().text(text) === text;
  }

  return (bytes, end, steps) => {
    let found: FoundString = { start: 0, end: 0, marks: 0 };
    let last: FoundString = { start: 0, end: 0, marks: 0 };
    for (let at = 0; at < end; at += 1) {
      if (bytes[at] !== QUOTE) continue;
      const start = at;
      let marks = 0;
      for (at += 1; at < bytes.length; at += 1) {
        const mark = STRING_MARKS[bytes[at] as number] as number;
        if (mark >= 0) marks |= mark;
        else if (bytes[at] === QUOTE) break;
        else {
          marks |= HIDING;
          at += 1;
        }
      }
      // Two objects take turns: one for each string would be the greater part of the work.
      const before = last;
      last = found;
      found = before;
      found.start = start;
      found.end = at + 1;
      found.marks = marks;
      const slot = slotOf(marks);
      if (harmlessMarks[slot] !== marks && !isClean(bytes, slot, found, last, steps)) return false;
    }
    return true;
  };
}

/** The marks of bytes in a string; less than 0 for a quotation mark and a backslash. */
const STRING_MARKS = MARKS.map((mark, code) => (code === QUOTE || code === BACKSLASH ? -1 : mark));

const slotOf = (marks: number): number => Math.imul(marks, 0x9e3779b1) >>> 24;

const LONGEST_NAMING = Math.max(...NAMING.map((name) => name.length)) + 2;

/** Whether a string may be a name of {@link NAMING}. */
function isNaming(bytes: Buffer, { start, end, marks }: FoundString): boolean {
  if ((marks & HIDING) !== 0) return true;
  return (
    end > start &&
    end - start <= LONGEST_NAMING &&
    NAMING.includes(bytes.toString("latin1", start + 1, end - 1))
  );
}

const stringAt = (bytes: Buffer, { start, end }: FoundString): string =>
  JSON.parse(bytes.toString("utf8", start, end)) as string;

function skipWhitespace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at += 1;
  return at;
}

/** Whether just these bytes stand between two offsets. */
function isBetween(known: Uint8Array | undefined, bytes: Uint8Array, start: number, end: number): boolean {
  if (known?.length !== end - start) return false;
  for (let at = 0; at < known.length; at += 1) if (known[at] !== bytes[start + at]) return false;
  return true;
}
