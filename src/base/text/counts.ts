/** Formats counts and shares for people. */

const NUMBER = new Intl.NumberFormat("en-GB");

/** `12,345` */
export const formatCount = (number: number): string => NUMBER.format(number);

/** `12 345`: the comparisons of `alpha-gateway parity` use the number format of the guides. */
export const formatSpacedCount = (number: number): string => formatCount(number).replaceAll(",", " ");

/** `1 call`, `2 calls`, `1,000 calls`. */
export const plural = (number: number, word: string): string =>
  `${formatCount(number)} ${word}${number === 1 ? "" : "s"}`;

/** Formats a share. A share above 0 and below 100 never reads as 0 % or 100 %. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (100 * part) / whole;
  if (share > 0 && share < 1) return "< 1 %";
  if (share < 100 && share > 99) return "> 99 %";
  return `${Math.round(share)} %`;
}
