/** Figures and names as people read them. */
import { UNACCEPTED } from "../../audit/usage.ts";

const NUMBER = new Intl.NumberFormat("en-GB");

export const count = (number: number): string => NUMBER.format(number);

/** `1 call`, `2 calls`. */
export const plural = (number: number, word: string): string =>
  `${count(number)} ${word}${number === 1 ? "" : "s"}`;

/** A share that is not quite none or all never reads as if it were. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (100 * part) / whole;
  if (share > 0 && share < 1) return "< 1 %";
  if (share < 100 && share > 99) return "> 99 %";
  return `${Math.round(share)} %`;
}

/** `2026-03-01 14:05 UTC` */
export const moment = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;

/** How a client is called: by its user agent where it has one. */
export const clientName = (userAgent: string | null, client: string | null): string =>
  client === UNACCEPTED
    ? "Tokens that v4 never accepted"
    : (userAgent ?? (client === null ? "Requests without a token" : `Client ${client}`));
