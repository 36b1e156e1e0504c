/** Finds the changes for clients between two versions of an API. */
import type { Operation, Place, Surface } from "./surface.ts";

/**
 * The clients that a change affects: all callers of the operation, the clients that send a name or do not send it, or
 * the readers of the response, which are unknown.
 */
export type Concern = "callers" | "senders" | "omitters" | "readers";

/** One change. */
export interface Change {
  /** The operation as written in the old version; if it is new, as written in the new version. */
  readonly operation: string;
  /** `body.label`, `answer.label`; null for the operation as a whole. */
  readonly place: string | null;
  /** The word of an enum. */
  readonly word?: string;
  /** The change, as a sentence without its subject: `is gone`. */
  readonly what: string;
  readonly concern: Concern;
  /** Whether the change depends on the value that is sent, instead of on its presence. */
  readonly isByValue?: true;
  /** `breaking`: clients of the old version may fail. `advice`: they may receive new data. */
  readonly level: "breaking" | "advice" | "safe";
}

type Found = Omit<Change, "operation">;

const quoted = (values: Iterable<string>): string => [...values].join(", ");

const includesType = (types: ReadonlySet<string>, type: string): boolean =>
  types.size === 0 || types.has(type) || (type === "integer" && types.has("number"));

/** Returns the types of one version that are missing in the other one. */
function missingTypes(of: ReadonlySet<string>, inside: ReadonlySet<string>): string[] {
  if (of.size === 0) return inside.size === 0 ? [] : ["other types"];
  return [...of].filter((type) => !includesType(inside, type));
}

/** Returns the words of one version that are missing in the other one; undefined if any word is allowed. */
function missingWords({ words: of }: Place, { words: inside }: Place): string[] | undefined {
  if (inside === undefined) return [];
  return of && [...of.difference(inside)];
}

/** Limits that are bounds: whether the value is a maximum or a minimum. */
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

/** The limit that represents all rules of a body without a name. */
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

/** Returns the limits of the second place that are missing or less strict in the first place. */
const narrowedLimits = (one: Place, other: Place): string[] =>
  Object.entries(other.limits).flatMap(([name, value]) =>
    isNarrower(name, one.limits[name], value)
      ? [name === OTHER_RULES ? "other rules" : `${name} ${value}`]
      : [],
  );

/** Collects the changes of one place, or of an operation as a whole. */
function changesAt(place: string | null, concern: Concern) {
  const found: Found[] = [];
  return {
    found,
    add(isSo: boolean, level: Change["level"], what: string, more: Partial<Found> = {}): void {
      if (isSo) found.push({ place, concern, level, what, ...more });
    },
  };
}

/** Compares the requests of clients. */
function compareSent(place: string, old: Place, now: Place): Found[] {
  const { found, add } = changesAt(place, "senders");
  const byValue = { isByValue: true } as const;
  const types = [...missingTypes(old.types, now.types), ...missingTypes(old.items, now.items)];
  const words = missingWords(old, now);
  const limits = narrowedLimits(old, now);
  const added = missingWords(now, old) ?? [];
  add(now.required && !old.required, "breaking", "becomes required", { concern: "omitters" });
  add(old.required && !now.required, "safe", "becomes optional");
  add(types.length > 0, "breaking", `no longer takes ${quoted(types)}`, byValue);
  add(words === undefined, "breaking", `takes only ${quoted(now.words ?? [])}`, byValue);
  for (const word of words ?? []) add(true, "breaking", `no longer takes ${word}`, { word });
  add(limits.length > 0, "breaking", `is limited: ${quoted(limits)}`, byValue);
  add(added.length > 0, "safe", `also takes ${quoted(added)}`);
  return found;
}

/** Compares the responses to clients. */
function compareAnswers(place: string, old: Place, now: Place): Found[] {
  const { found, add } = changesAt(place, "readers");
  const types = [...missingTypes(now.types, old.types), ...missingTypes(now.items, old.items)];
  const added = missingWords(now, old);
  const limits = narrowedLimits(now, old);
  add(old.required && !now.required, "breaking", "may be missing");
  add(types.length > 0, "breaking", `may be ${quoted(types)}`);
  add(added === undefined, "advice", "may be any word");
  for (const word of added ?? []) add(true, "advice", `may be ${word}`, { word });
  for (const word of missingWords(old, now) ?? []) add(true, "advice", `is no longer ${word}`, { word });
  add(limits.length > 0, "advice", `is no longer limited by ${quoted(limits)}`);
  return found;
}

/** Whether a place is inside a place that was removed or added as a whole. */
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

/** Returns the differences of the operation as a whole. */
function compareOperations(old: Operation, now: Operation): Found[] {
  const { found, add } = changesAt(null, "callers");
  const scopes = now.scopes?.difference(old.scopes ?? new Set()) ?? new Set();
  const statuses = now.successes.difference(old.successes);
  const errors = now.errors.difference(old.errors);
  const keepsStatuses = old.successes.isSubsetOf(now.successes);
  add(now.scopes !== undefined && !old.scopes, "breaking", "needs a token");
  add(scopes.size > 0, "breaking", `needs the scope ${quoted(scopes)}`);
  add(
    statuses.size > 0 && old.successes.size > 0,
    keepsStatuses ? "advice" : "breaking",
    `answers with status ${quoted(statuses)}`,
  );
  add(errors.size > 0, "advice", `may answer with status ${quoted(errors)}`);
  add(now.isDeprecated && !old.isDeprecated, "advice", "becomes deprecated");
  return found;
}

/** Lists the changes from one version to another, by operation. */
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
