/** Formats counts and shares for people. */

const NUMBER = new Intl.NumberFormat("en-GB");

/** `12,345` */
export const formatCount = (number: number): string => NUMBER.format(number);

/** `1 call`, `2 calls`, `1,000 calls`. */
export const plural = (number: number, word: string): string =>
  `${formatCount(number)} ${word}${number === 1 ? "" : "s"}`;

/**
 * The form of a verb after a count: `verbFor(1, "send")` is `sends`, and `verbFor(2, "send")` is `send`.
 *
 * @param one The form for one. It is passed for an irregular verb, such as `has`
 */
export const verbFor = (number: number, verb: string, one = `${verb}s`): string =>
  number === 1 ? one : verb;

/** Formats a share. A share above 0 and below 100 never reads as 0 % or 100 %. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (100 * part) / whole;
  if (share > 0 && share < 1) return "< 1 %";
  if (share < 100 && share > 99) return "> 99 %";
  return `${Math.round(share)} %`;
}

/** Formats a rate with three significant digits: `0.1 %`. Rates are often far below 1 %. */
export const formatRate = (rate: number): string => `${Number((rate * 100).toPrecision(3))} %`;

/** Formats a share with two digits, rounded down, so that `100 %` means all. */
export const percentDown = (part: number, whole: number): string =>
  `${whole === 0 ? 0 : Math.floor((part / whole) * 10_000) / 100} %`;
