/**
 * Formats times, counts and shares in the time zone and the number format of the browser. `src/base/text/` formats
 * them for texts of the server: in UTC, and in one number format. Browsers can't load its TypeScript.
 */

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const moment = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const whole = new Intl.NumberFormat();
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const STEPS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** `14:05:09` */
export const time = (iso) => clock.format(new Date(iso));
/** `1 Mar 2026, 14:05:09` */
export const dateTime = (iso) => moment.format(new Date(iso));
/** `2026-03-01` in UTC, as in the API and the summaries. */
export const dayOf = (at) => new Date(at).toISOString().slice(0, 10);
/** `Mar 1` for such a day. */
export const dayName = (iso) => day.format(new Date(`${iso}T00:00:00Z`));
export const count = (number) => whole.format(number);
/** `1 call`, `2 calls`. The plural of an irregular word is passed: `plural(2, "loss", "losses")`. */
export const plural = (number, word, words = `${word}s`) => `${count(number)} ${number === 1 ? word : words}`;
/** `2.5 ms` */
export const ms = (number) => `${number < 10 ? Number(number.toFixed(1)) : Math.round(number)} ms`;
/** `0.042 ms`: with more digits than other times, because most stages take microseconds. */
export const stageMs = (number) => `${number.toFixed(3)} ms`;
/** `25 %` of a total. A share above 0 and below 100 never reads as 0 % or 100 %. */
export function percent(part, all) {
  if (all === 0) return "–";
  const share = (100 * part) / all;
  if (share > 0 && share < 1) return "< 1 %";
  if (share < 100 && share > 99) return "> 99 %";
  return `${Math.round(share)} %`;
}
/** The form of a verb after a count: `1 client sends`, `2 clients send`. */
export const verbFor = (number, verb) => (number === 1 ? `${verb}s` : verb);

/** `5 minutes ago`, `in 3 days`. */
export function ago(iso, now = Date.now()) {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(Math.round(seconds / size), unit);
}

export const bytes = (number) => (number < 1024 ? `${number} B` : `${(number / 1024).toFixed(1)} kB`);

/** Formats a value as JSON on one line, shortened. */
export function brief(value, most = 80) {
  if (value === undefined) return "";
  const text = JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
