import { describePictureProblem } from "../../picture-problem.ts";
import { prepareRegex, type Regex } from "../../regex/index.ts";
import { Failure } from "../failure.ts";
import { DAYS, MONTHS } from "./calendar.ts";
import { parseTimePicture, type TimeComponent, type TimePart } from "./date-picture.ts";
import { readInteger, type IntegerFormat } from "./integers.ts";
import { rememberPictures } from "./picture-cache.ts";

/** Reads the text of one component; undefined if it is not a name. */
type ReadComponent = (text: string) => number | undefined;

/** The regular expression of a component, and what its text means. */
interface ComponentReader {
  readonly pattern: string;
  readonly read: ReadComponent;
}

const LETTERS = "[a-zA-Z]+";

const readNames =
  (names: readonly (readonly [string, number])[]): ReadComponent =>
  (text) =>
    names.find(([name]) => name === text)?.[1];

const HALVES = readNames([
  ["am", 0],
  ["AM", 0],
  ["pm", 1],
  ["PM", 1],
]);

/** As in JSONata, upper and lower case differ, and of names that are cut to the same letters the last one counts. */
function nameReader({ component, mostLetters }: TimeComponent): ComponentReader {
  if (component === "P") return { pattern: LETTERS, read: HALVES };
  if (!"MxF".includes(component)) throw new Failure("D3133");
  const names = (component === "F" ? DAYS : MONTHS).map(
    (name, value) => [mostLetters ? name.slice(0, Math.max(0, mostLetters)) : name, value] as const,
  );
  return { pattern: LETTERS, read: readNames(names.slice(1).toReversed()) };
}

/** Minutes of an offset: `+hh`, `+hhmm`, or hours and minutes with a separator. As in JSONata, minutes have no sign. */
function readOffset(text: string, separator: string | undefined): number {
  if (separator === undefined && text.length <= 3) return Number.parseInt(text, 10) * 60;
  const [end, start] =
    separator === undefined ? [3, 3] : [text.indexOf(separator), text.indexOf(separator) + 1];
  return Number.parseInt(text.substring(0, end), 10) * 60 + Number.parseInt(text.slice(start), 10);
}

function zoneReader({ component, integer }: TimeComponent): ComponentReader {
  const separator =
    integer?.style === "digits" && integer.every > 0 ? (integer.separators[0]?.sign ?? "") : undefined;
  const prefix = component === "z" ? "GMT" : "";
  // As in JSONata, the separator is part of the regular expression as it is.
  const minutes = separator === undefined ? "" : `${separator}[0-9]+`;
  return {
    pattern: `${prefix}[-+][0-9]+${minutes}`,
    read: (text) => readOffset(text.slice(prefix.length), separator),
  };
}

function integerPattern(format: IntegerFormat, hasFixedWidth: boolean): string {
  switch (format.style) {
    case "letters":
      return format.upper ? "[A-Z]+" : "[a-z]+";
    case "roman":
      return format.upper ? "[MDCLXVI]+" : "[mdclxvi]+";
    case "digits": {
      const count = hasFixedWidth && format.least ? `{${format.least}}` : "+";
      return `[0-9]${count}${format.ordinal ? "(?:th|st|nd|rd)" : ""}`;
    }
    default:
      throw new Failure("D3130");
  }
}

function readerOf(part: TimeComponent): ComponentReader {
  const { component, integer, hasFixedWidth } = part;
  if (component === "Z" || component === "z") return zoneReader(part);
  if (component === "f")
    return { pattern: "[0-9]+", read: (text) => Number.parseFloat(`0.${text.slice(0, 3)}`) * 1000 };
  if (!integer) return nameReader(part);
  return { pattern: integerPattern(integer, hasFixedWidth), read: (text) => readInteger(text, integer) };
}

const escapeText = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The components of a time by letter. */
type Components = Record<string, number | undefined>;

/** Whether some of these components are there (as in JSONata, not zero), and no other ones. */
function areAmong(components: Components, all: string, allowed: string): boolean {
  const given = Array.from(all).filter((component) => components[component]);
  return given.length > 0 && given.every((component) => allowed.includes(component));
}

/** Which components a time consists of. */
interface TimeForm {
  /** A day by its number in the year, without a month. */
  readonly isDayOfYear: boolean;
  /** An hour from 1 to 12, with "am" or "pm". */
  readonly isHalfDay: boolean;
}

/** @throws {Failure} D3136 For a date by its week. */
function formOf(components: Components): TimeForm {
  const isDate = (allowed: string): boolean => areAmong(components, "YXMxWwdD", allowed);
  const isTime = (allowed: string): boolean => areAmong(components, "PHhmsf", allowed);
  if (isDate("Xxw") || isDate("XW")) throw new Failure("D3136");
  const isDayOfYear = !isDate("YMD") && isDate("Yd");
  return { isDayOfYear, isHalfDay: !isTime("Hmsf") && isTime("Phmsf") };
}

/** Fills components behind the last one with 0, or 1 for months and days. @throws {Failure} D3136 If another is missing. */
function fillComponents(components: Components, { isDayOfYear, isHalfDay }: TimeForm): Components {
  const filled = { ...components };
  let isBehindLast = false;
  for (const component of (isDayOfYear ? "YD" : "YMD") + (isHalfDay ? "Phmsf" : "Hmsf"))
    if (filled[component] === undefined) {
      filled[component] = "MD".includes(component) ? 1 : 0;
      isBehindLast = true;
    } else if (isBehindLast) throw new Failure("D3136");
  return filled;
}

/** Month, from 0, and day. As in JSONata, a day behind the end of the year is one of the same year. */
function dateOf({ Y = 0, M = 0, D = 0, d = 0 }: Components, isDayOfYear: boolean): [number, number] {
  if (!isDayOfYear) return [M > 0 ? M - 1 : 0, D];
  const date = new Date(Date.UTC(Y, 0) + (d - 1) * 86_400_000);
  return [date.getUTCMonth(), date.getUTCDate()];
}

const hourOf = ({ H = 0, h = 0, P }: Components, isHalfDay: boolean): number =>
  isHalfDay ? (h === 12 ? 0 : h) + (P === 1 ? 12 : 0) : H;

/** Computes the time of components, the year among them. @throws {Failure} D3136 */
function toTime(components: Components): number {
  const form = formOf(components);
  const filled = fillComponents(components, form);
  const { Y = 0, m = 0, s = 0, f = 0, Z, z } = filled;
  const [month, day] = dateOf(filled, form.isDayOfYear);
  return Date.UTC(Y, month, day, hourOf(filled, form.isHalfDay), m, s, f) - (Z || z || 0) * 60_000;
}

/** Reads a time; undefined if the text does not match the picture. */
type ReadTime = (text: string) => number | undefined;

/**
 * Creates the regular expression of a picture. JavaScript's engine runs it in linear time if the end of each part is
 * unambiguous; the linear engine, which is slower, runs all others.
 */
function createRegex(source: string, picture: string): Regex {
  if (describePictureProblem(picture) === undefined) return new RegExp(source, "i");
  return prepareRegex(source, "i")();
}

/** The function that reads times by a picture. */
const timeReader = rememberPictures((picture: string): ReadTime => {
  const parts: readonly TimePart[] = parseTimePicture(picture);
  const readers = parts.map((part) => (typeof part === "string" ? undefined : readerOf(part)));
  const groups = parts.map((part, index) => `(${readers[index]?.pattern ?? escapeText(part as string)})`);
  const regex = createRegex(`^${groups.join("")}$`, picture);
  return (text) => {
    regex.lastIndex = 0;
    const found = regex.exec(text);
    if (!found) return undefined;
    const components: Components = {};
    for (const [index, part] of parts.entries())
      if (typeof part === "object") components[part.component] = readers[index]?.read(found[index + 1] ?? "");
    return toTime(components);
  };
});

/**
 * Whether {@link parseTime} can read times by this picture: it is valid, and has a year. Without one, JSONata takes the
 * year of the clock.
 */
export function canParseTime(picture: string): boolean {
  try {
    timeReader(picture);
    return parseTimePicture(picture).some((part) => typeof part === "object" && part.component === "Y");
  } catch {
    return false;
  }
}

/**
 * Reads a time by a picture. Returns milliseconds since the epoch, or undefined if the text does not match.
 *
 * @param picture One for which {@link canParseTime} is true.
 * @throws {Failure} D3136 If the text lacks a component.
 */
export const parseTime = (text: string, picture: string): number | undefined => timeReader(picture)(text);
