/** The values that a document allows at a place of an answer. */
import type { Place } from "../../migration/index.ts";
import { textOfPattern } from "./pattern.ts";

/** The known facts about a place that its description does not have. */
export interface Hints {
  /** Whether the pack reads a time here. Documents often say no more than `string`. */
  readonly isTime: boolean;
  /** Values that tables of the pack or golden cases have here. The first one that fits is the usual value. */
  readonly words: readonly unknown[];
  /** Whether a text has the pattern of the place. */
  readonly fits: (text: string) => boolean;
}

/** The values that are tried at a place. */
export interface PlaceValues {
  /** The usual value. */
  readonly usual: unknown;
  readonly others: readonly unknown[];
  /** Whether these are all values that the place can have. */
  readonly isFinite: boolean;
}

/** Characters of a text without a maximum, and of one with a larger one. */
const LONG = 300;
const MOST_CHARACTERS = 10_000;
/** Words of an enum that are tried. */
const MOST_WORDS = 500;
const MOST_ITEMS = 50;

const TIMES = [
  "2026-01-02T03:04:05",
  "2026-01-02T03:04:05Z",
  "2026-01-02T03:04:05.678Z",
  "2026-01-02T03:04:05+02:00",
];

/** Examples by the formats of JSON Schema. */
const FORMATS: ReadonlyMap<unknown, readonly string[]> = new Map(
  Object.entries({
    "date-time": TIMES.slice(1),
    date: ["2026-01-02", "2024-02-29"],
    time: ["03:04:05Z"],
    email: ["a@example.com"],
    uuid: ["0b5c9d1e-8b0c-4c1a-9f57-3a1d5b6c7e8f"],
    uri: ["https://example.com/a?b=c"],
    hostname: ["a.example.com"],
    ipv4: ["192.0.2.1", "0.0.0.0"],
    ipv6: ["2001:db8::1", "::"],
    ip: ["192.0.2.1", "2001:db8::1"],
  }),
);

/** A word that no document has in an enum. */
const UNKNOWN_WORD = "a-word-that-no-document-has";

const numberLimit = ({ limits }: Place, name: string): number | undefined => {
  const value = limits[name];
  return typeof value === "number" ? value : undefined;
};

/** Texts of the lengths and the pattern of a place. */
function textValues(place: Place, { isTime, fits }: Hints): string[] {
  const { format: name, ...others } = place.limits;
  // A document that says more than that it is a text, or a time, describes something else than the pack reads.
  const isPlain = (name ?? "date-time") === "date-time" && Object.keys(others).length === 0;
  const format = isTime && isPlain ? TIMES : FORMATS.get(name);
  if (format) return format.filter(fits);
  const least = Math.min(numberLimit(place, "minLength") ?? 0, MOST_CHARACTERS);
  const most = Math.min(numberLimit(place, "maxLength") ?? LONG, MOST_CHARACTERS);
  const { pattern } = others;
  const ofPattern =
    typeof pattern === "string" ? [textOfPattern(pattern) ?? [], ...FORMATS.values()].flat() : [];
  return ["text", "", "0", "true", "it's é", "x".repeat(most), ...ofPattern]
    .map((text) => text.padEnd(least, "x").slice(0, Math.max(least, most)))
    .filter(fits);
}

/** A few usual numbers, and the smallest and the largest that a place allows. */
function numberValues(place: Place, isInteger: boolean): number[] {
  const step = numberLimit(place, "multipleOf") ?? (isInteger ? 1 : 0.25);
  const below = numberLimit(place, "exclusiveMinimum");
  const above = numberLimit(place, "exclusiveMaximum");
  const least = numberLimit(place, "minimum") ?? (below === undefined ? 0 : below + step);
  const most =
    numberLimit(place, "maximum") ?? (above === undefined ? Math.max(least, 2 ** 31 - 1) : above - step);
  const usual = isInteger ? [1, 2] : [1, 1.5];
  return [...usual, least, most].filter((value) => value >= least && value <= most);
}

/** The words of an enum, with their types. */
const enumValues = ({ words, types }: Place): unknown[] =>
  [...(words ?? [])].slice(0, MOST_WORDS).map((word) => {
    if (types.has("string") || types.size === 0) return word;
    return word === "true" || word === "false" ? word === "true" : Number(word);
  });

/**
 * The scalar values of a place: each word of an enum and an unknown word, null if it is allowed, the shortest and the
 * longest value, and a value of each type.
 *
 * @param types Those of the place, or of the items of a list
 */
export function valuesOf(place: Place, types: ReadonlySet<string>, hints: Hints): PlaceValues {
  const words = enumValues(place);
  const hasWords = words.length > 0;
  const isInteger = types.has("integer") && !types.has("number");
  const isText = types.has("string") || types.size === 0;
  const isNumber = types.has("integer") || types.has("number");
  const isAllowed = (word: unknown): boolean => {
    if (typeof word === "number") return isNumber && (!isInteger || Number.isInteger(word));
    return word === null || (isText && typeof word === "string");
  };
  const known = hints.words.filter(isAllowed);
  const texts = isText && !hasWords ? textValues(place, hints) : [];
  const described = [
    ...words,
    ...texts,
    ...(isNumber && !hasWords ? numberValues(place, isInteger) : []),
    ...(types.has("boolean") && !hasWords ? [true, false] : []),
    ...(types.has("null") ? [null] : []),
  ];
  const likely = known.filter((word) => word !== null && (!hasWords || words.includes(word)));
  const unknown = hasWords && isText ? [UNKNOWN_WORD] : [];
  const [usual = null, ...others] = new Set([...likely, ...described, ...known, ...unknown]);
  const isInfinite = texts.length > 0 || (isNumber && !hasWords) || (place.words?.size ?? 0) > MOST_WORDS;
  return { usual, others, isFinite: described.length > 0 && !isInfinite };
}

/** How many items lists of a place are tried with. */
export function listSizes(place: Place): { readonly usual: number; readonly others: readonly number[] } {
  const least = Math.min(numberLimit(place, "minItems") ?? 0, MOST_ITEMS);
  const most = Math.max(least, Math.min(numberLimit(place, "maxItems") ?? 3, MOST_ITEMS));
  const usual = Math.max(least, Math.min(1, most));
  return { usual, others: [...new Set([least, most])].filter((size) => size !== usual) };
}
