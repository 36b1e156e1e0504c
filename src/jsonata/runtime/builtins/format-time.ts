import { Failure } from "../failure.ts";
import { DAYS, MONTHS, TIME_NUMBERS } from "./calendar.ts";
import { parseTimePicture, type TimeComponent } from "./date-picture.ts";
import { formatInteger, printInteger, type IntegerFormat } from "./integers.ts";

/** An offset from UTC. Its sign is that of `hours`. */
interface Offset {
  readonly hours: number;
  readonly minutes: number;
}

const UTC: Offset = { hours: 0, minutes: 0 };

/** Parses a time zone, `+hhmm`. As in JSONata, one behind UTC with minutes is an hour too early: -0130 is -2 h -30 min. */
function parseOffset(zone: string | undefined): Offset {
  if (zone === undefined) return UTC;
  // oxlint-disable-next-line radix -- as in JSONata, 0x is a prefix
  const offset = Number.parseInt(zone);
  return { hours: Math.floor(offset / 100), minutes: offset % 100 };
}

/**
 * The date of a time in a time zone. JSONata itself prints `0NaN-NaN-NaN` for a number that no date has.
 *
 * @throws {Failure} no_date
 */
export function dateIn(millis: number, zone?: string): { readonly date: Date; readonly offset: Offset } {
  const offset = parseOffset(zone);
  const date = new Date(millis + (60 * offset.hours + offset.minutes) * 60_000);
  if (Number.isNaN(date.getTime())) throw new Failure("no_date");
  return { date, offset };
}

const NAMES: Readonly<Record<string, readonly string[]>> = { M: MONTHS, x: MONTHS, F: DAYS };

function changeCase(text: string, letters: TimeComponent["letters"]): string {
  if (letters === "upper") return text.toUpperCase();
  return letters === "lower" ? text.toLowerCase() : text;
}

function printName(value: number, { component, letters, mostLetters }: TimeComponent): string {
  const names = NAMES[component];
  if (!names) throw new Failure("D3133");
  const name = changeCase(names[value] ?? "", letters);
  return mostLetters !== undefined && name.length > mostLetters
    ? name.slice(0, Math.max(0, mostLetters))
    : name;
}

/** Digits of an offset that has no separator: hours only, or hours and minutes. */
function printOffset({ hours, minutes }: Offset, format: IntegerFormat): string {
  const digits = format.style === "digits" ? format.least : 0;
  const isRegular = format.style === "digits" && format.every > 0;
  if (isRegular || digits === 3 || digits === 4) return printInteger(hours * 100 + minutes, format);
  if (digits !== 1 && digits !== 2) throw new Failure("D3134");
  return printInteger(hours, format) + (minutes === 0 ? "" : `:${formatInteger(minutes, "00")}`);
}

function printZone(offset: Offset, part: TimeComponent): string {
  const text = printOffset(offset, part.integer as IntegerFormat);
  const total = offset.hours * 100 + offset.minutes;
  if (total === 0 && part.isZuluForZero) return "Z";
  return (part.component === "z" ? "GMT" : "") + (total >= 0 ? `+${text}` : text);
}

function printComponent(date: Date, offset: Offset, part: TimeComponent): string {
  const { component, letters, integer, yearDigits } = part;
  const number = TIME_NUMBERS[component];
  if (number) {
    const value = yearDigits === undefined ? number(date) : number(date) % 10 ** yearDigits;
    return integer ? printInteger(value, integer) : printName(value, part);
  }
  switch (component) {
    case "Z":
    case "z":
      return printZone(offset, part);
    case "P": {
      const half = date.getUTCHours() >= 12 ? "pm" : "am";
      return letters === "upper" ? half.toUpperCase() : half;
    }
    case "C":
    case "E":
      return "ISO";
    default:
      // As in JSONata, an unknown component is printed like this if it has a presentation.
      return "undefined";
  }
}

const ISO_8601 = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]";

/**
 * Prints a time by a picture.
 *
 * @param millis Milliseconds since the epoch.
 * @param picture Default: ISO 8601.
 * @param zone The time zone, `+hhmm`. Default: UTC.
 * @throws {Failure} D3130 to D3135 If the picture is invalid, no_date, too_large.
 */
export function formatTime(millis: number, picture = ISO_8601, zone?: string): string {
  const { date, offset } = dateIn(millis, zone);
  const parts = parseTimePicture(picture);
  let text = "";
  for (const part of parts) text += typeof part === "string" ? part : printComponent(date, offset, part);
  return text;
}
