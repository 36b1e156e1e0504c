/**
 * Formats dates for people. All are in UTC: operators compare them with logs and with each other, from several time
 * zones. A time is given in milliseconds, or as `Date.toISOString` writes it.
 */

/** Milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const isoOf = (time: string | number): string =>
  typeof time === "number" ? new Date(time).toISOString() : time;

/** `2026-03-01` */
export const formatDay = (time: string | number): string => isoOf(time).slice(0, 10);

/** Formats a time as `2026-03-01 14:05`, if the line or the table head contains "UTC". */
export function formatMinute(time: string | number): string {
  const iso = isoOf(time);
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
}

/** `2026-03-01 14:05 UTC` */
export const formatMinuteUtc = (time: string | number): string => `${formatMinute(time)} UTC`;

/** `2026-03-01 14:05:09 UTC`, for events that need seconds. */
export function formatSecondUtc(time: string | number): string {
  const iso = isoOf(time);
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
