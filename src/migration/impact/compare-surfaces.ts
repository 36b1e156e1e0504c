/** Finds the changes for clients between two editions of an API. */
import type { Operation, Place, Surface } from "./surface.ts";

/**
 * Whom a change concerns: all callers of the operation; those who send a name, or who don't; and those who read the answer,
 * of whom nobody knows what they read.
 */
export type Concern = "callers" | "senders" | "omitters" | "readers";

/** One change. */
export interface Change {
  /** The operation as the old edition writes it; of a new one, as the new edition does. */
  readonly operation: string;
  /** `body.label`, `answer.label`; null for the operation as a whole. */
  readonly place: string | null;
  /** The word of an enum. */
  readonly word?: string;
  /** The change, as a sentence without its subject: `is gone`. */
  readonly what: string;
  readonly concern: Concern;
  /** Whether it depends on the value that is sent, and not on whether something is. */
  readonly isByValue?: true;
  /** `breaking`: clients of the old edition may fail. `advice`: they may meet something new. */
  readonly level: "breaking" | "advice" | "safe";
}

type Found = Omit<Change, "operation">;

const quoted = (values: Iterable<string>): string => [...values].join(", ");

const includesType = (types: ReadonlySet<string>, type: string): boolean =>
  types.size === 0 || types.has(type) || (type === "integer" && types.has("number"));

/** The types of one edition that the other one does not have. */
function missingTypes(of: ReadonlySet<string>, inside: ReadonlySet<string>): string[] {
  if (of.size === 0) return inside.size === 0 ? [] : ["other types"];
  return [...of].filter((type) => !includesType(inside, type));
}

/** The words of one edition that the other one does not have; undefined if it has any word. */
const missingWords = ({ words: of }: Place, { words: inside }: Place): string[] | undefined =>
  of === undefined
    ? inside === undefined
      ? []
      : undefined
    : inside === undefined
      ? []
      : [...of.difference(inside)];

/** Limits that are a bound: whether the value must be at most, or at least that. */
const BOUNDS: Readonly<Record<string, 1 | -1>> = {
  maximum: 1,
  exclusiveMaximum: 1,
  maxLength: 1,
  maxItems: 1,
  minimum: -1,
  exclusiveMinimum: -1,
  minLength: -1,
  minItems: -1,
};

/** The limit that stands for all rules of a body that have no name of their own. */
export const OTHER_RULES = "rules";

/** Whether the second value of a limit permits less than the first. */
function isNarrower(
  name: string,
  from: string | number | undefined,
  to: string | number | undefined,
): boolean {
  if (to === undefined || from === to) return false;
  const bound = BOUNDS[name];
  if (bound === undefined || typeof to !== "number") return true;
  if (typeof from !== "number") return !(bound === -1 && to <= 0);
  return (from - to) * bound > 0;
}

/** The limits that the second place has and the first has not, or not as strictly. */
const narrowedLimits = (one: Place, other: Place): string[] =>
  Object.entries(other.limits).flatMap(([name, value]) =>
    isNarrower(name, one.limits[name], value)
      ? [name === OTHER_RULES ? "other rules" : `${name} ${value}`]
      : [],
  );

/** The differences of what clients send. */
function compareSent(place: string, old: Place, now: Place): Found[] {
  const breaking = { place, concern: "senders", level: "breaking" } as const;
  const isByValue = true as const;
  const types = [...missingTypes(old.types, now.types), ...missingTypes(old.items, now.items)];
  const words = missingWords(old, now);
  const limits = narrowedLimits(old, now);
  const added = missingWords(now, old) ?? [];
  return [
    ...(now.required && !old.required
      ? [{ place, concern: "omitters", level: "breaking", what: "becomes required" } as const]
      : []),
    ...(old.required && !now.required
      ? [{ place, concern: "senders", level: "safe", what: "becomes optional" } as const]
      : []),
    ...(types.length > 0 ? [{ ...breaking, isByValue, what: `no longer takes ${quoted(types)}` }] : []),
    ...(words === undefined
      ? [{ ...breaking, isByValue, what: `takes only ${quoted(now.words ?? [])}` }]
      : []),
    ...(words ?? []).map((word) => ({ ...breaking, word, what: `no longer takes ${word}` })),
    ...(limits.length > 0 ? [{ ...breaking, isByValue, what: `is limited: ${quoted(limits)}` }] : []),
    ...(added.length > 0
      ? [{ place, concern: "senders", level: "safe", what: `also takes ${quoted(added)}` } as const]
      : []),
  ];
}

/** The differences of what clients get. */
function compareAnswers(place: string, old: Place, now: Place): Found[] {
  const of = { place, concern: "readers" } as const;
  const types = [...missingTypes(now.types, old.types), ...missingTypes(now.items, old.items)];
  const added = missingWords(now, old);
  const removed = missingWords(old, now) ?? [];
  const limits = narrowedLimits(now, old);
  return [
    ...(old.required && !now.required ? [{ ...of, level: "breaking", what: "may be missing" } as const] : []),
    ...(types.length > 0 ? [{ ...of, level: "breaking", what: `may be ${quoted(types)}` } as const] : []),
    ...(added === undefined ? [{ ...of, level: "advice", what: "may be any word" } as const] : []),
    ...(added ?? []).map((word) => ({ ...of, level: "advice", word, what: `may be ${word}` }) as const),
    ...removed.map((word) => ({ ...of, level: "advice", word, what: `is no longer ${word}` }) as const),
    ...(limits.length > 0
      ? [{ ...of, level: "advice", what: `is no longer limited by ${quoted(limits)}` } as const]
      : []),
  ];
}

/** Whether a place is inside one that is gone or new as a whole. */
function isInside(place: string, others: ReadonlySet<string>): boolean {
  for (let at = place.lastIndexOf("."); at > 0; at = place.lastIndexOf(".", at - 1))
    if (others.has(place.slice(0, at))) return true;
  return false;
}

/** Compares all places of one direction. */
function comparePlaces(
  old: ReadonlyMap<string, Place>,
  now: ReadonlyMap<string, Place>,
  { compare, gone, added }: Direction,
): Found[] {
  const left = new Set([...old.keys()].filter((place) => !now.has(place)));
  const fresh = new Set([...now.keys()].filter((place) => !old.has(place)));
  return [
    ...[...left].flatMap((place) => (isInside(place, left) ? [] : [gone(place)])),
    ...[...fresh].flatMap((place) => {
      const value = now.get(place);
      return value && !isInside(place, fresh) ? [added(place, value)] : [];
    }),
    ...[...old].flatMap(([place, before]) => {
      const after = now.get(place);
      return after ? compare(place, before, after) : [];
    }),
  ];
}

interface Direction {
  readonly compare: (place: string, old: Place, now: Place) => Found[];
  readonly gone: (place: string) => Found;
  readonly added: (place: string, now: Place) => Found;
}

const REQUEST: Direction = {
  compare: compareSent,
  gone: (place) => ({ place, concern: "senders", level: "breaking", what: "is gone" }),
  added: (place, { required }) =>
    required
      ? { place, concern: "omitters", level: "breaking", what: "is new and required" }
      : { place, concern: "senders", level: "safe", what: "is new" },
};

const ANSWER: Direction = {
  compare: compareAnswers,
  gone: (place) => ({ place, concern: "readers", level: "breaking", what: "is gone" }),
  added: (place) => ({ place, concern: "readers", level: "safe", what: "is new" }),
};

/** Differences of the operation as a whole. */
function compareOperations(old: Operation, now: Operation): Found[] {
  const of = { place: null, concern: "callers" } as const;
  const scopes = now.scopes?.difference(old.scopes ?? new Set());
  const statuses = now.successes.difference(old.successes);
  const errors = now.errors.difference(old.errors);
  return [
    ...(now.scopes && !old.scopes ? [{ ...of, level: "breaking", what: "needs a token" } as const] : []),
    ...(scopes && scopes.size > 0
      ? [{ ...of, level: "breaking", what: `needs the scope ${quoted(scopes)}` } as const]
      : []),
    ...(statuses.size > 0 && old.successes.size > 0
      ? [
          {
            ...of,
            level: old.successes.isSubsetOf(now.successes) ? "advice" : "breaking",
            what: `answers with status ${quoted(statuses)}`,
          } as const,
        ]
      : []),
    ...(errors.size > 0
      ? [{ ...of, level: "advice", what: `may answer with status ${quoted(errors)}` } as const]
      : []),
    ...(now.isDeprecated && !old.isDeprecated
      ? [{ ...of, level: "advice", what: "becomes deprecated" } as const]
      : []),
  ];
}

/** Lists the changes from one edition to another, by operation. */
export function compareSurfaces(old: Surface, now: Surface): Change[] {
  const changes: Change[] = [];
  for (const [key, before] of old) {
    const after = now.get(key);
    const of = { operation: before.name };
    if (!after) {
      changes.push({ ...of, place: null, what: "is gone", concern: "callers", level: "breaking" });
      continue;
    }
    const found = [
      ...compareOperations(before, after),
      ...comparePlaces(before.request, after.request, REQUEST),
      ...comparePlaces(before.answer, after.answer, ANSWER),
    ];
    changes.push(...found.map((change) => ({ ...of, ...change })));
  }
  for (const [key, { name }] of now)
    if (!old.has(key))
      changes.push({ operation: name, place: null, what: "is new", concern: "callers", level: "safe" });
  return changes;
}
