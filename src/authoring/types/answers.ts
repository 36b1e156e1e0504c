/** The responses that a description allows, as an arbitrary of fast-check. */
import * as fc from "fast-check";
import { generateSync, type JsonSchema } from "json-schema-faker";
import type { Place } from "../../migration/index.ts";
import type { AnswerNode } from "./answer-tree.ts";
import { isAllowed, type Patterns } from "./check-answer.ts";

/** The possible values at a place. */
export interface Answers {
  /** The usual value: shrinking leads to it. */
  readonly usual: unknown;
  readonly arbitrary: fc.Arbitrary<unknown>;
}

/** The known facts about a place that its description does not contain. */
export interface Hints {
  /** Whether the pack reads a time here. Documents often only specify `string`. */
  readonly isTime: boolean;
  /** Values for this place in tables of the pack or in golden cases. The first one that fits is the usual value. */
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
const MOST_ITEMS = 50;
/** Number of values that json-schema-faker generates for one place. */
const FAKED = 5;

const isScalar = (type: string): boolean => type !== "array" && type !== "object";

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

/** Returns the words of an enum, with their types. */
const enumValues = ({ words = new Set() }: Place, types: ReadonlySet<string>): unknown[] =>
  [...words].map((word) => {
    if (types.has("string")) return word;
    return word === "true" || word === "false" ? word === "true" : Number(word);
  });

/** Returns all possible values of a place without lists and objects; undefined if there are too many to try. */
export function finiteValues({ types, words, ...place }: Place): unknown[] | undefined {
  const isFinite = (type: string) => type === "boolean" || type === "null" || (words && words.size > 0);
  if (types.size === 0 || ![...types].every((type) => isScalar(type) && isFinite(type))) return undefined;
  return [
    ...(words ? enumValues({ ...place, types, words }, types) : [true, false]),
    ...(types.has("null") ? [null] : []),
  ];
}

/** Returns the scalar values of a place, the usual one first. json-schema-faker does not try the limits. */
function scalarsOf(
  node: AnswerNode,
  types: ReadonlySet<string>,
  { hintsOf, patterns }: AnswerFacts,
): unknown[] {
  const { place } = node;
  const hints = hintsOf(node.path);
  const hasWords = place.words !== undefined && place.words.size > 0;
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
  // The upstream may deviate from its document: golden cases may contain other words, and null.
  const kinds = new Set([...types, ...(place.types.has("array") ? [] : ["null"])]);
  const known = hints.words.filter((word) =>
    isAllowed(word, { ...place, types: kinds, words: undefined, limits: {} }, patterns),
  );
  return [...new Set([...allowed, ...known, ...(hasWords && isText ? [UNKNOWN_WORD] : [])])];
}

/** Returns a list of the given values. */
function listOf({ usual, arbitrary }: Answers, place: Place): Answers {
  const minLength = Math.min(limitOf(place, "minItems", 0), MOST_ITEMS);
  const maxLength = Math.max(minLength, Math.min(limitOf(place, "maxItems", 3), MOST_ITEMS));
  const length = Math.max(minLength, Math.min(1, maxLength));
  return {
    usual: Array.from({ length }, () => usual),
    arbitrary: fc.array(arbitrary, { minLength, maxLength, size: "max" }),
  };
}

function objectOf({ members }: AnswerNode, facts: AnswerFacts): Answers {
  const all = [...members].map(([key, node]) => [key, answersOf(node, facts)] as const);
  const required = [...members].flatMap(([key, { place }]) => (place.required ? [key] : []));
  return {
    usual: Object.fromEntries(all.map(([key, { usual }]) => [key, usual])),
    arbitrary: fc.record(Object.fromEntries(all.map(([key, { arbitrary }]) => [key, arbitrary])), {
      // If no member is required, the document does not specify which members are present: all of them are.
      requiredKeys: required.length > 0 ? required : [...members.keys()],
    }),
  };
}

/** Returns the values at a place. @param isItem whether they are the items of an existing list */
export function answersOf(node: AnswerNode, facts: AnswerFacts, isItem = false): Answers {
  const { place, members } = node;
  const types = isItem ? place.items : place.types;
  const scalars = new Set([...types].filter(isScalar));
  const kinds: Answers[] = [];
  // For nested lists, the description contains no items.
  if (types.has("array"))
    kinds.push(
      isItem ? { usual: [], arbitrary: fc.constant([]) } : listOf(answersOf(node, facts, true), place),
    );
  else if (types.has("object") || members.size > 0) kinds.push(objectOf(node, facts));
  if (types.size === 0 && members.size === 0) scalars.add("string");
  if (scalars.size > 0) {
    const [usual = null, ...others] = scalarsOf(node, scalars, facts);
    const values = [usual, ...(node.isTried ? others : [])];
    kinds.push({ usual, arbitrary: fc.nat({ max: values.length - 1 }).map((at) => values[at]) });
  }
  const arbitraries = kinds.map(({ arbitrary }) => arbitrary);
  return { usual: kinds[0]?.usual, arbitrary: fc.oneof({ withCrossShrink: true }, ...arbitraries) };
}
