// English words for integers: the pictures W and w.

const SMALL =
  "Zero One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen Sixteen Seventeen Eighteen Nineteen".split(
    " ",
  );
const SMALL_ORDINALS =
  "Zeroth First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth Eleventh Twelfth Thirteenth Fourteenth Fifteenth Sixteenth Seventeenth Eighteenth Nineteenth".split(
    " ",
  );
const TENS = "Twenty Thirty Forty Fifty Sixty Seventy Eighty Ninety".split(" ");
const POWERS = "Thousand Million Billion Trillion".split(" ");

const ordinalOfTens = (word: string): string => `${word.slice(0, -1)}ieth`;

/** Returns the words after a larger unit, with their separator. */
function printRest(value: number, ordinal: boolean, below: number): string {
  if (value === 0) return ordinal ? "th" : "";
  return (value < below ? " and " : ", ") + toWords(value, ordinal);
}

/** Returns an integer in English words, cardinal or ordinal. */
export function toWords(value: number, ordinal: boolean): string {
  if (value < 20) return (ordinal ? SMALL_ORDINALS : SMALL)[value] as string;
  if (value < 100) {
    const tens = TENS[Math.floor(value / 10) - 2] as string;
    if (value % 10 > 0) return `${tens}-${toWords(value % 10, ordinal)}`;
    return ordinal ? ordinalOfTens(tens) : tens;
  }
  if (value < 1000)
    return `${SMALL[Math.floor(value / 100)] as string} Hundred${printRest(value % 100, ordinal, 100)}`;
  const power = Math.min(Math.floor(Math.log10(value) / 3), POWERS.length);
  const unit = 10 ** (power * 3);
  const count = Math.floor(value / unit);
  return `${toWords(count, false)} ${POWERS[power - 1] as string}${printRest(value - count * unit, ordinal, 100)}`;
}

const VALUES = new Map<string, number>(
  [
    ...SMALL.map((word, value) => [word, value] as const),
    ...SMALL_ORDINALS.map((word, value) => [word, value] as const),
    ...TENS.flatMap((word, index) => [
      [word, (index + 2) * 10] as const,
      [ordinalOfTens(word), (index + 2) * 10] as const,
    ]),
    ["Hundred", 100],
    ["Hundredth", 100],
    ...POWERS.flatMap((word, index) => [
      [word, 1000 ** (index + 1)] as const,
      [`${word}th`, 1000 ** (index + 1)] as const,
    ]),
  ].map(([word, value]) => [String(word).toLowerCase(), Number(value)]),
);

/** Parses an integer in English words. Returns NaN if a word is unknown. */
export function fromWords(text: string): number {
  const parts = [0];
  for (const word of text.toLowerCase().split(/,\s|\sand\s|[\s\\-]/)) {
    const value = VALUES.get(word) ?? Number.NaN;
    const last = parts.pop() as number;
    if (!(value < 100)) parts.push(last * value);
    else if (last >= 1000) parts.push(last, value);
    else parts.push(last + value);
  }
  return parts.reduce((sum, part) => sum + part, 0);
}
