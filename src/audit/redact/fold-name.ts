/** Characters that a name may have without being seen as a part of it; `+` is a blank in forms, U+FFFD an invalid byte. */
const UNSEEN = /[\p{DI}\p{C}\p{Z}\p{M}\p{Pc}\p{Pd}\s+\u2800\ufffd]/u;
const UNSEEN_ASCII = /[-_+\s\p{Cc}]+/gu;
/** A longer name is a text. A replacement of all its separators would take several times as long. */
const LONGEST_NAME = 128;

/** Characters that stand for whole words. NFKD makes up to 18 characters of one, and no name is spelt with them. */
const LIGATURES = /[\ufdf0-\ufdff\u3300-\u33ff]/;

/** Whether a text is ASCII. Faster than a loop over the characters. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/**
 * A name without what makes two spellings of it differ: case, width and other forms of compatibility (Unicode's NFKD),
 * accents, separators, invisible characters, and letters of other alphabets that look like Latin ones.
 */
export function foldName(name: string): string {
  if (!isAscii(name)) return mapUnits(toCompatible(name), foldUnit);
  if (name.length > LONGEST_NAME) return mapUnits(name, foldUnit);
  return name.toLowerCase().replaceAll(UNSEEN_ASCII, "");
}

/** Letters without what Unicode has for compatibility: full width, ligatures, accents in one character. */
function toCompatible(name: string): string {
  const letters = LIGATURES.test(name) ? mapUnits(name, dropLigature) : name;
  return letters.normalize("NFKD");
}

/** The result for a UTF-16 unit that is dropped. */
const DROPPED = 0x10000;

/** Maps the UTF-16 units of a text without an allocation for each: a client can send a hundred thousand of them. */
function mapUnits(text: string, map: (unit: number) => number): string {
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = map(text.charCodeAt(at));
    if (unit !== DROPPED) units[length++] = unit;
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString("utf16le");
}

const dropLigature = (unit: number): number => (LIGATURES.test(String.fromCharCode(unit)) ? DROPPED : unit);

/** What each unit becomes, or 0 until it is needed. */
const FOLDED = new Uint32Array(0x10000);

/** Folds one unit. Characters of two units are not letters of names, and count as invisible. */
const foldUnit = (unit: number): number =>
  FOLDED[unit] || (FOLDED[unit] = findFold(String.fromCharCode(unit)));

function findFold(unit: string): number {
  if (UNSEEN.test(unit)) return DROPPED;
  return (LOOKS_LIKE.get(unit) ?? unit).toLowerCase().charCodeAt(0);
}

/** Cyrillic and Greek letters, and a few more, by the Latin letter that they look like (Unicode TR 39, confusables). */
const LOOKS_LIKE = new Map(
  [
    ["авсԁеһіјкӏмпорԛгѕтүхуԝ", "abcdehijklmnopqrstyxyw"],
    ["АВСԀЕНІЈКМОРԚЅТХУҮԜ", "abcdehijkmopqstxyyw"],
    ["αβϲεηικνορτυχγω", "abcenikvoptuxyw"],
    ["ΑΒϹΕΗΙΚΜΝΟΡΤΥΧΖ", "abcehikmnoptyxz"],
    ["ıɑɡɩøđł", "iagiodl"],
  ].flatMap(([from = "", to = ""]) =>
    Array.from(from).map((letter, index) => [letter, to[index] ?? ""] as const),
  ),
);

/** What each unit becomes in {@link plainLetters}, or 0 until it is needed. */
const PLAIN = new Uint32Array(0x10000);

/** A name without what makes two spellings of it differ, with its signs and its case, which say where its parts are. */
export const plainLetters = (name: string): string =>
  isAscii(name) ? name : mapUnits(toCompatible(name), plainUnit);

const plainUnit = (unit: number): number =>
  PLAIN[unit] || (PLAIN[unit] = findPlain(String.fromCharCode(unit)));

function findPlain(unit: string): number {
  if (/[\p{M}\p{Cf}\p{DI}]/u.test(unit)) return DROPPED;
  const latin = LOOKS_LIKE.get(unit) ?? unit;
  return (unit === unit.toLowerCase() ? latin : latin.toUpperCase()).charCodeAt(0);
}

/** What folds a text, and for each character the length of what becomes of it, plus one; 0 until it is needed. */
export interface Folding {
  readonly fold: (text: string) => string;
  readonly lengths: Uint8Array;
}

const CODE_POINTS = 0x110000;
const folding = (fold: (text: string) => string): Folding => ({ fold, lengths: new Uint8Array(CODE_POINTS) });

export const NAME_FOLDING: Folding = folding(foldName);
export const PLAIN_FOLDING: Folding = folding(plainLetters);

/** The offsets in a text of the characters that are at offsets of the folded text, in ascending order. */
export function unfoldedOffsets(
  text: string,
  foldedOffsets: readonly number[],
  { fold, lengths }: Folding,
): number[] {
  const offsets: number[] = [];
  let before = 0;
  for (let at = 0; at < text.length && offsets.length < foldedOffsets.length;) {
    const code = text.codePointAt(at) as number;
    before += (lengths[code] ||= fold(String.fromCodePoint(code)).length + 1) - 1;
    while (before > (foldedOffsets[offsets.length] as number)) offsets.push(at);
    at += code > 0xffff ? 2 : 1;
  }
  while (offsets.length < foldedOffsets.length) offsets.push(text.length);
  return offsets;
}
