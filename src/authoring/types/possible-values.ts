/** The values that a description allows at the places of a response. */
import { generateSync, type JsonSchema } from "json-schema-faker";
import type { Place } from "../../migration/index.ts";
import type { AnswerNode } from "./answer-tree.ts";
import { isAllowed, type Patterns } from "./check-answer.ts";

/** The known facts about a place that its description does not contain. */
export interface Hints {
  /** Whether the pack reads a time here. Documents often only specify `string`. */
  readonly isTime: boolean;
  /** Values for this place in tables and catalogs of the pack. */
  readonly words: readonly unknown[];
}

/** The known facts about the places of a response. */
interface AnswerFacts {
  readonly hintsOf: (path: readonly string[]) => Hints;
  readonly patterns: Patterns;
}

/** Times in all usual forms: json-schema-faker only generates one of them. */
const TIMES = [
  "2026-01-02T03:04:05",
  "2026-01-02T03:04:05Z",
  "2026-01-02T03:04:05.678Z",
  "2026-01-02T03:04:05+02:00",
];
const TEXTS = ["text", "", "0", "true", "it's é"];
const NUMBERS = [1, 2, 1.5, 0];
/** A word that no document contains in an enum. */
const UNKNOWN_WORD = "a-word-that-no-document-has";

/** Length of a text without a maximum length, and maximum length of a text with one. */
const [LONG, MOST_CHARACTERS] = [300, 10_000];
/** Number of values that json-schema-faker generates for one place. */
const FAKED = 5;

const limitOf = ({ limits }: Place, name: string, otherwise: number): number =>
  typeof limits[name] === "number" ? limits[name] : otherwise;

/** Returns values according to the format, the pattern and the limits of a place. */
function fakedValues({ limits }: Place, type: string, patterns: Patterns): unknown[] {
  const { pattern, format, maxLength, multipleOf, ...bounds } = limits;
  const rules = {
    // Most documents do not specify that a number is not negative.
    ...(type !== "string" && { minimum: 0, ...bounds, multipleOf }),
    ...(type === "string" && { ...bounds, format, maxLength: Math.min(Number(maxLength ?? LONG), LONG) }),
    ...(typeof pattern === "string" && patterns.isUsable(pattern) && { pattern }),
  };
  return Array.from({ length: FAKED }, (_, seed) => generateSync({ type, ...rules } as JsonSchema, { seed }));
}

/** Returns example texts for a place whose values are not limited to words. */
function textsOf(place: Place, { isTime }: Hints, patterns: Patterns): unknown[] {
  const { format, ...others } = place.limits;
  // If a document specifies more than a text or a time, it describes something different from what the pack reads.
  if (format === "date-time" || (isTime && format === undefined && Object.keys(others).length === 0))
    return TIMES;
  const lengths = [limitOf(place, "minLength", 0), limitOf(place, "maxLength", LONG)];
  const bounds = lengths.map((length) => "x".repeat(Math.min(Math.max(0, length), MOST_CHARACTERS)));
  return [...(format === undefined ? [...TEXTS, ...bounds] : []), ...fakedValues(place, "string", patterns)];
}

/** Returns example numbers for a place whose values are not limited to words. */
const numbersOf = (place: Place, patterns: Patterns): unknown[] => [
  ...NUMBERS,
  limitOf(place, "minimum", 0),
  limitOf(place, "maximum", 2 ** 31 - 1),
  ...fakedValues(place, "number", patterns),
];

const isLimitedToWords = ({ words }: Place): boolean => words !== undefined && words.size > 0;

/** Whether all possible values of a place are tried: words, booleans and null, but no lists, objects, texts or numbers. */
export const isFinite = (place: Place): boolean =>
  place.types.size > 0 &&
  [...place.types].every(
    (type) =>
      type === "boolean" ||
      type === "null" ||
      (type !== "array" && type !== "object" && isLimitedToWords(place)),
  );

/** Returns the words of an enum, with their types. */
const enumValues = ({ words = new Set() }: Place, types: ReadonlySet<string>): unknown[] =>
  [...words].map((word) => {
    if (types.has("string")) return word;
    return word === "true" || word === "false" ? word === "true" : Number(word);
  });

/** Returns the scalar values of a place. json-schema-faker does not try the limits. */
function scalarsOf(
  { place, path }: AnswerNode,
  types: ReadonlySet<string>,
  { hintsOf, patterns }: AnswerFacts,
): unknown[] {
  if (types.size === 0) return [];
  const hints = hintsOf(path);
  const hasWords = isLimitedToWords(place);
  const isText = types.has("string");
  const described = hasWords
    ? enumValues(place, types)
    : [
        ...(isText ? textsOf(place, hints, patterns) : []),
        ...(types.has("number") || types.has("integer") ? numbersOf(place, patterns) : []),
        true,
        false,
      ];
  const allowed = [...hints.words.filter((word) => word !== null), ...described, null].filter((value) =>
    isAllowed(value, { ...place, types }, patterns),
  );
  // The upstream may deviate from its document: the pack may know other words.
  const kinds = new Set([...types, ...(place.types.has("array") ? [] : ["null"])]);
  const known = hints.words.filter((word) =>
    isAllowed(word, { ...place, types: kinds, words: undefined, limits: {} }, patterns),
  );
  return [...allowed, ...known, ...(hasWords && isText ? [UNKNOWN_WORD] : [])];
}

/**
 * Returns the values that are tried at the place of a member. Objects and their lists stay as they are, because their
 * members have their own places. For nested lists, the description contains no items.
 */
export function valuesOf(node: AnswerNode, facts: AnswerFacts): unknown[] {
  const { types, items, limits } = node.place;
  const scalarsIn = (all: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...all].filter((type) => type !== "array" && type !== "object"));
  const scalars = types.size === 0 && node.members.size === 0 ? new Set(["string"]) : scalarsIn(types);
  const lists = types.has("array") ? scalarsOf(node, scalarsIn(items), facts).map((item) => [item]) : [];
  const empty = types.has("array") && Number(limits["minItems"] ?? 0) === 0 ? [[]] : [];
  return [...new Set([...empty, ...lists, ...scalarsOf(node, scalars, facts)])];
}
