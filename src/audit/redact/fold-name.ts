/**
 * Matches characters that represent whole words. NFKD expands such a character to up to 18 characters, and no name
 * contains one.
 */
const LIGATURES = /[\ufdf0-\ufdff\u3300-\u33ff]/g;
/** Matches accents and invisible characters. */
const UNSEEN = /[\p{M}\p{Cf}\p{DI}]/gu;
/** Matches the starts of words that follow no separator: `pinCode`, `OTPCode`. */
const WORD_STARTS = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;
const SIGNS = /[^a-z\d]+/g;
/** Matches the separators in a path of names: `server[root_pass]`. */
const PATH_SIGN = /[[\]./?&#;,]/;

/** Cyrillic, Greek and a few other letters, with the Latin letters that they resemble (Unicode TR 39, confusables). */
const LOOKS_LIKE = new Map(
  [
    ["авсԁеһіјкӏмпорԛгѕтүхуԝ", "abcdehijklmnopqrstyxyw"],
    ["АВСԀЕНІЈКМОРԚЅТХУҮԜ", "ABCDEHIJKMOPQSTXYYW"],
    ["αβϲεηικνορτυχγω", "abcenikvoptuxyw"],
    ["ΑΒϹΕΗΙΚΜΝΟΡΤΥΧΖ", "ABCEHIKMNOPTYXZ"],
    ["ıɑɡɩøđł", "iagiodl"],
    ["ØĐŁ", "ODL"],
  ].flatMap(([from = "", to = ""]) =>
    Array.from(from).map((letter, index) => [letter, to[index] ?? ""] as const),
  ),
);

/** Whether a text is ASCII. A pattern is faster than a loop over the characters. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

function toLatin(name: string): string {
  const letters = name.replaceAll(LIGATURES, "_").normalize("NFKD").replaceAll(UNSEEN, "");
  return letters.replaceAll(/[^\0-\x7f]/g, (letter) => LOOKS_LIKE.get(letter) ?? letter);
}

/**
 * Returns the words of a name in lower case, without differences between spellings: width and other compatibility forms
 * (Unicode's NFKD), accents, invisible characters, and letters of other alphabets that resemble Latin ones. `_`
 * separates words, and `.` separates the names of a path.
 *
 * @param name a short text, because it is read several times
 */
export function foldName(name: string): string {
  const latin = isAscii(name) ? name : toLatin(name);
  const words = latin.replaceAll(WORD_STARTS, "_").toLowerCase();
  return words.replaceAll(SIGNS, (signs) => (PATH_SIGN.test(signs) ? "." : "_"));
}

/** Removes separators from words: `root_pass`, `root-pass` and `rootPass` are one name. */
export const joinWords = (words: string): string => words.replaceAll("_", "");
