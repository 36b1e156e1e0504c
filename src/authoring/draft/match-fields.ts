/** Matches the fields of an old and a new object. */
import type { Place } from "../../migration/index.ts";
import type { ApiObject, Field } from "./api-description.ts";
import { assignBest, type Candidate } from "./assign.ts";
import { splitIntoWords, type Vocabulary } from "./words.ts";

export type FieldPair = Candidate<Field, Field>;

/** Minimum score of a match, and minimum difference between the scores of two candidates. */
const [THRESHOLD, MARGIN] = [0.66, 0.03];
/** The weights of the kinds of evidence. A pair with the same name, type and position has the score 1. */
const WEIGHTS = { name: 0.8, type: 0.1, place: 0.04, text: 0.06 } as const;
/** The weight of the words of an enumeration: common and different words. */
const WORDS_WORTH = 0.25;

/** The likeness of two names if the new description contains the old name. */
const DESCRIBED = 0.72;
/** The score of fields between the same neighbours. */
const PLACED = 0.68;
/** Maximum number of words of a description that may name a field. Longer descriptions contain too many names. */
const MAX_DESCRIPTION = 12;

/** The valid types of values. A document may contain others. */
const JSON_TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
]);

/** Returns JSON types without null; an integer is a number. */
const plainTypes = (types: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...types].filter((type) => type !== "null").map((type) => (type === "integer" ? "number" : type)));

/** Returns 1 for the same types, 0.5 if one side defines none, and 0 if no value is valid on both sides. */
function typeLikeness(old: Field, now: Field): number {
  if ((old.object === undefined) !== (now.object === undefined) || old.isList !== now.isList) return 0;
  const [one, other] = [plainTypes(old.place.types), plainTypes(now.place.types)];
  if (one.size === 0 || other.size === 0) return 0.5;
  if (one.isDisjointFrom(other)) return 0;
  if (!one.has("array")) return 1;
  const [items, otherItems] = [plainTypes(old.place.items), plainTypes(now.place.items)];
  if (items.size === 0 || otherItems.size === 0) return 0.5;
  return items.isDisjointFrom(otherItems) ? 0 : 1;
}

const normalized = (words: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...words].slice(0, 200).map((word) => splitIntoWords(word).join(" ")));

/** Returns the common share of the words of two enumerations. Undefined if one of them has none. */
function enumLikeness(old: Place, now: Place): number | undefined {
  if (!old.words || !now.words) return undefined;
  const [one, other] = [normalized(old.words), normalized(now.words)];
  return one.intersection(other).size / Math.max(1, Math.min(one.size, other.size));
}

const lastOf = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

const spelling = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}.]/gu, "");

/** Returns the likeness of two names. The last part of a nested name has the highest weight. */
function nameLikeness(old: string, now: string, vocabulary: Vocabulary): number {
  const [all, others] = [splitIntoWords(old), splitIntoWords(now)];
  if (spelling(old) === spelling(now)) return 1;
  if (all.join(" ") === others.join(" ")) return 0.95;
  const whole = vocabulary.likeness(all, others);
  const last = vocabulary.likeness(splitIntoWords(lastOf(old)), splitIntoWords(lastOf(now)));
  return Math.min(0.99, Math.max(whole, 0.75 * last + 0.25 * whole));
}

function nameReason(old: string, now: string, likeness: number): string {
  if (old === now) return "same name";
  if (likeness === 1) return "name differs by its spelling only";
  return likeness > 0.3 ? "names have words in common" : "other name";
}

function typeReason(old: Place, likeness: number): string {
  const types = [...old.types].filter((type) => JSON_TYPES.has(type)).join(" or ");
  return likeness === 1 && types !== "" ? `same type (${types})` : "one description has no type";
}

/** Words for values that need a unit (of money, length or time) or a format (of a country or a language). */
const NEEDS_UNIT: ReadonlySet<string> = new Set(
  (
    "amount balance charge cost discount fee price salary subtotal tax " +
    "distance duration height length temperature weight width country currency language locale timezone"
  ).split(" "),
);

/** Units and formats in names and descriptions. */
const UNITS =
  /\b(?:cents?|dollars?|euros?|usd|eur|gbp|minor units?|percent|%|milliseconds?|ms|seconds?|minutes?|hours?|days?|bytes?|[kmg]i?b|mm|cm|met(?:er|re)s?|km|grams?|kg|celsius|kelvin|iso[- ]?\d+|alpha-[23]|bcp[- ]?47|iana)\b/giu;

/** Factor for the score of two such values if they have no unit or format in common, because they may differ. */
const WITHOUT_UNIT = 0.5;

const unitsOf = ({ name, description, place: { limits } }: Field): ReadonlySet<string> =>
  new Set([
    ...[...`${name.replaceAll("_", " ")} ${description}`.matchAll(UNITS)].map(([unit]) =>
      unit.toLowerCase().replace(/(?<=..)s$/, ""),
    ),
    ...[limits["format"], limits["pattern"]].filter((limit) => limit !== undefined).map(String),
  ]);

/** Whether two fields have names for such a value, without a unit, a format or common words. */
function lacksUnit(old: Field, now: Field): boolean {
  const isMeasured = splitIntoWords(lastOf(old.name)).some((word) => NEEDS_UNIT.has(word));
  if (!isMeasured || old.object !== undefined || (old.place.words ?? now.place.words) !== undefined)
    return false;
  return unitsOf(old).isDisjointFrom(unitsOf(now));
}

/** Whether a short description of the new field contains the name of the old one. */
function describes(now: Field, old: Field): boolean {
  const described = splitIntoWords(now.description);
  return (
    described.length <= MAX_DESCRIPTION &&
    splitIntoWords(lastOf(old.name)).every((word) => described.includes(word))
  );
}

/** The context for comparing two fields. */
interface Surroundings {
  /** Difference of their positions in their objects, from 0 to 1. */
  readonly distance: number;
  /** Whether the new object contains all names of the old one. */
  readonly isUnchanged: boolean;
}

/** Judges whether two fields are the same. */
function judge(
  old: Field,
  now: Field,
  vocabulary: Vocabulary,
  { distance, isUnchanged }: Surroundings,
): FieldPair | undefined {
  const type = typeLikeness(old, now);
  if (type === 0) return undefined;
  const isDescribed = describes(now, old);
  const name = Math.max(nameLikeness(old.name, now.name, vocabulary), isDescribed ? DESCRIBED : 0);
  const words = enumLikeness(old.place, now.place);
  // No value is valid on both sides. Regardless of the names, a person must map the values.
  if (words === 0) return undefined;
  const text = vocabulary.likeness(splitIntoWords(old.description), splitIntoWords(now.description));
  const texts = old.description === "" || now.description === "" ? name : text;
  const base =
    WEIGHTS.name * name + WEIGHTS.type * type + WEIGHTS.place * (1 - distance) + WEIGHTS.text * texts;
  const bonus = words === undefined ? 0 : (words - 0.4) * WORDS_WORTH;
  const reasons = [
    isDescribed && name === DESCRIBED
      ? `the new description has the word "${lastOf(old.name)}"`
      : nameReason(old.name, now.name, name),
    typeReason(old.place, type),
    ...(words === undefined ? [] : ["the same words in both enumerations"]),
    ...(text > 0.5 && old.description !== "" ? ["similar descriptions"] : []),
  ];
  const most = !isUnchanged && lacksUnit(old, now) ? WITHOUT_UNIT : 0.99;
  return { old, now, score: Math.max(0, Math.min(most, base + bonus)), reasons };
}

const isIn = (name: string, outer: string): boolean => name.startsWith(`${outer}.`);

/** Whether a pair of objects has members that match fields elsewhere, so that the objects are different. */
const isContradicted = ({ old, now }: FieldPair, pairs: readonly FieldPair[]): boolean =>
  now.object !== undefined &&
  !now.isList &&
  pairs.some((pair) => isIn(pair.now.name, now.name) && !isIn(pair.old.name, old.name));

/** Whether two fields may be the same according to their types, and both or neither have words. */
const isSameKind = (old: Field, now: Field | undefined): now is Field =>
  now !== undefined &&
  typeLikeness(old, now) > 0 &&
  (old.place.types.size === 0 || (old.place.words === undefined) === (now.place.words === undefined));

/** Returns the fields without objects whose members are fields as well, because the members have their own positions. */
const leaves = ({ fields }: ApiObject): Field[] =>
  [...fields.values()].filter(({ object, isList }) => object === undefined || isList);

/**
 * Matches fields between the same neighbours, if both sides have the same number of them and their types have the same
 * order. The matched fields must have the same order on both sides, otherwise positions prove nothing.
 */
function matchPlaces(old: ApiObject, now: ApiObject, pairs: readonly FieldPair[]): FieldPair[] {
  const [olds, nows] = [leaves(old), leaves(now)];
  const partners = new Map(pairs.map((pair) => [pair.old, pair.now]));
  const anchors = olds.flatMap((field, index) => {
    const place = nows.findIndex((other) => other === partners.get(field));
    return place < 0 ? [] : [{ index, place }];
  });
  const isInOrder = anchors.every(({ place }, at) => place >= (anchors[at - 1]?.place ?? 0));
  if (anchors.length < 2 || !isInOrder) return [];
  return anchors.flatMap(({ index, place }, at) => {
    const before = anchors[at - 1] ?? { index: -1, place: -1 };
    const gap = olds.slice(before.index + 1, index);
    const others = nows.slice(before.place + 1, place);
    if (gap.length !== others.length || !gap.every((field, n) => isSameKind(field, others[n]))) return [];
    return gap.flatMap((field, n): FieldPair[] => {
      const other = others[n];
      if (!other || lacksUnit(field, other)) return [];
      const reasons = ["other name", "the same type between the same neighbours"];
      return [{ old: field, now: other, score: PLACED, reasons }];
    });
  });
}

/** Finds the fields that are the same according to their names or descriptions. */
export function matchNames(old: ApiObject, now: ApiObject, vocabulary: Vocabulary): FieldPair[] {
  const [all, others] = [[...old.fields.values()], [...now.fields.values()]];
  // If an object still contains all its names, there is no reason to assume different units.
  const isUnchanged = all.every(({ name }) => now.fields.has(name));
  const candidates = all.flatMap((field, index) =>
    others.flatMap((other, otherIndex) => {
      const distance = Math.abs(index / all.length - otherIndex / others.length);
      return judge(field, other, vocabulary, { distance, isUnchanged }) ?? [];
    }),
  );
  const pairs = assignBest(candidates, THRESHOLD, MARGIN);
  return pairs.filter((pair) => !isContradicted(pair, pairs));
}

/** Finds the fields that are the same, each with its score and reasons. */
export function matchFields(old: ApiObject, now: ApiObject, vocabulary: Vocabulary): FieldPair[] {
  const pairs = matchNames(old, now, vocabulary);
  return [...pairs, ...matchPlaces(old, now, pairs)];
}
