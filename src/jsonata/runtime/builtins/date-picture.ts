import { Failure } from "../failure.ts";
import { parseIntegerPicture, type IntegerFormat } from "./integers.ts";
import { checkPicture, rememberPictures } from "./picture-cache.ts";

// Pictures of times: XPath Functions and Operators 3.1, section 9.8.4, as far as JSONata implements it.

/** A component of a time in a picture: `[M01]`, `[FNn,3-3]`. */
export interface TimeComponent {
  /** One letter. */
  readonly component: string;
  /** How its name is written, if it is not a number. */
  readonly letters: "upper" | "lower" | "title" | undefined;
  /** The format of a number, or of a time zone. */
  readonly integer: IntegerFormat | undefined;
  /** Letters of a name; undefined: all. */
  readonly mostLetters: number | undefined;
  /** Digits of a year; undefined: all. */
  readonly yearDigits: number | undefined;
  /** Whether the picture ends with `t`: a time zone of zero is written as Z. */
  readonly isZuluForZero: boolean;
  /** Whether another number follows directly, so that the digits are counted when it is read. */
  readonly hasFixedWidth: boolean;
}

/** A picture is a sequence of components and of literal text. */
export type TimePart = string | TimeComponent;

/** Presentation of a component for which the picture has none. */
const DEFAULT_PRESENTATION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from("YMDdWwXxHhf", (component) => [component, "1"])),
  ...Object.fromEntries(Array.from("FPCE", (component) => [component, "n"])),
  ...Object.fromEntries(Array.from("ms", (component) => [component, "01"])),
  ...Object.fromEntries(Array.from("Zz", (component) => [component, "01:01"])),
};

const NUMBERS = "YMDdFWwXxHhmsf";

/** Returns the least and the most width of `,2-4`. `*` and a missing one set no limit. */
function parseWidths(text: string | undefined): readonly (number | undefined)[] {
  if (text === undefined) return [];
  const dash = text.indexOf("-");
  const widths = dash === -1 ? [text] : [text.slice(0, dash), text.slice(dash + 1)];
  return widths.map((width) => {
    if (width === "*") return undefined;
    const digits = Number.parseInt(width, 10);
    checkPicture(digits);
    return digits;
  });
}

function lettersOf(presentation: string): TimeComponent["letters"] {
  if (presentation.startsWith("n")) return "lower";
  if (!presentation.startsWith("N")) return undefined;
  return presentation.charAt(1) === "n" ? "title" : "upper";
}

/** The format of a number. The width of a component sets the least number of digits. */
function integerOf(
  component: string,
  picture: string,
  [least, most]: readonly (number | undefined)[],
): IntegerFormat {
  const format = parseIntegerPicture(picture);
  if (format.style !== "digits") return format;
  if (component === "Y" && most !== undefined) return { ...format, least: most };
  return least !== undefined && format.least < least ? { ...format, least } : format;
}

/** Digits of a year: those of the width, else those of the digits in the picture, if there are two or more. */
function yearDigitsOf(integer: IntegerFormat, most: number | undefined): number | undefined {
  if (most !== undefined) return most;
  if (integer.style !== "digits") return undefined;
  const digits = integer.least + integer.optional;
  return digits >= 2 ? digits : undefined;
}

/** Parses what stands in brackets. White space does not count. @throws {Failure} D3131, D3132 */
function parseComponent(text: string): TimeComponent {
  const marker = text.replaceAll(/\s+/g, "");
  const component = marker.charAt(0);
  const comma = marker.lastIndexOf(",");
  // As in JSONata, a comma in place of the component is its own presentation.
  const given = comma === -1 ? marker.slice(1) : marker.substring(1, comma);
  const modifier = /^.+([atco])$/s.exec(given)?.[1];
  const presentation =
    given === "" ? DEFAULT_PRESENTATION[component] : given.slice(0, modifier === undefined ? undefined : -1);
  if (presentation === undefined) throw new Failure("D3132");
  const widths = parseWidths(comma === -1 ? undefined : marker.slice(comma + 1));
  const letters = lettersOf(presentation);
  const isZone = component === "Z" || component === "z";
  const isNumber = letters === undefined && component !== "" && NUMBERS.includes(component);
  const suffix = modifier === undefined ? "" : `;${modifier}`;
  const integer = isZone
    ? parseIntegerPicture(presentation)
    : isNumber
      ? integerOf(component, presentation + suffix, widths)
      : undefined;
  return {
    component,
    letters,
    integer,
    mostLetters: widths[1],
    yearDigits: component === "Y" && integer ? yearDigitsOf(integer, widths[1]) : undefined,
    isZuluForZero: modifier === "t",
    hasFixedWidth: false,
  };
}

/** Whether the digits of a component are counted because of the one that follows it. */
const isNumberPart = (part: TimePart | undefined): boolean =>
  typeof part === "object" && part.integer !== undefined && !"Zz".includes(part.component);

/**
 * Parses a picture of a time. `[[` and `]]` are brackets in its text.
 *
 * @throws {Failure} D3131, D3132 If a component is unknown, D3135 If a bracket is not closed, too_large.
 */
export const parseTimePicture = rememberPictures((picture: string): readonly TimePart[] => {
  const parts: TimePart[] = [];
  const addText = (text: string): void => {
    if (text !== "") parts.push(text.replaceAll("]]", "]"));
  };
  let start = 0;
  for (let open = picture.indexOf("["); open !== -1; open = picture.indexOf("[", start)) {
    addText(picture.slice(start, open));
    if (picture.charAt(open + 1) === "[") {
      parts.push("[");
      start = open + 2;
      continue;
    }
    const close = picture.indexOf("]", open);
    if (close === -1) throw new Failure("D3135");
    parts.push(parseComponent(picture.slice(open + 1, close)));
    start = close + 1;
  }
  addText(picture.slice(start));
  return parts.map((part, index) =>
    typeof part === "object" && isNumberPart(parts[index + 1]) ? { ...part, hasFixedWidth: true } : part,
  );
});
