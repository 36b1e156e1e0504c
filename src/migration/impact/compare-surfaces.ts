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
type Places = ReadonlyMap<string, Place>;

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

/** Returns what one place has and another one does not have: its types, its words, and the limits of the other place. */
const surplus = (of: Place, inside: Place) => ({
  types: [...missingTypes(of.types, inside.types), ...missingTypes(of.items, inside.items)],
  words: missingWords(of, inside),
  limits: Object.entries(inside.limits).flatMap(([name, value]) =>
    isNarrower(name, of.limits[name], value)
      ? [name === OTHER_RULES ? "other rules" : `${name} ${value}`]
      : [],
  ),
});

/** A change that is only listed if it exists. */
type Possible = readonly [
  isSo: boolean,
  level: Change["level"],
  what: string,
  more?: Partial<Pick<Change, "concern" | "word" | "isByValue">>,
];

/** Returns the changes of one place, or of an operation as a whole, that exist. */
const listChanges = (place: string | null, concern: Concern, possible: readonly Possible[]): Found[] =>
  possible.flatMap(([isSo, level, what, more]) => (isSo ? [{ place, concern, level, what, ...more }] : []));

/** Compares the requests of clients. */
function compareSent(place: string, old: Place, now: Place): Found[] {
  const { types, words, limits } = surplus(old, now);
  const added = missingWords(now, old) ?? [];
  const byValue = { isByValue: true } as const;
  return listChanges(place, "senders", [
    [now.required && !old.required, "breaking", "becomes required", { concern: "omitters" }],
    [old.required && !now.required, "safe", "becomes optional"],
    [types.length > 0, "breaking", `no longer takes ${quoted(types)}`, byValue],
    [words === undefined, "breaking", `takes only ${quoted(now.words ?? [])}`, byValue],
    ...(words ?? []).map((word): Possible => [true, "breaking", `no longer takes ${word}`, { word }]),
    [limits.length > 0, "breaking", `is limited: ${quoted(limits)}`, byValue],
    [added.length > 0, "safe", `also takes ${quoted(added)}`],
  ]);
}

/** Compares the responses to clients. */
function compareAnswers(place: string, old: Place, now: Place): Found[] {
  const { types, words, limits } = surplus(now, old);
  const gone = missingWords(old, now) ?? [];
  return listChanges(place, "readers", [
    [old.required && !now.required, "breaking", "may be missing"],
    [types.length > 0, "breaking", `may be ${quoted(types)}`],
    [words === undefined, "advice", "may be any word"],
    ...(words ?? []).map((word): Possible => [true, "advice", `may be ${word}`, { word }]),
    ...gone.map((word): Possible => [true, "advice", `is no longer ${word}`, { word }]),
    [limits.length > 0, "advice", `is no longer limited by ${quoted(limits)}`],
  ]);
}

/** Whether a place is inside a place that was removed or added as a whole. */
function isInside(place: string, others: Places): boolean {
  for (let at = place.lastIndexOf("."); at > 0; at = place.lastIndexOf(".", at - 1))
    if (others.has(place.slice(0, at))) return true;
  return false;
}

/** Returns the places that only one version has, without those inside of others. */
function onlyIn(one: Places, other: Places): [name: string, place: Place][] {
  const found = new Map([...one].filter(([name]) => !other.has(name)));
  return [...found].filter(([name]) => !isInside(name, found));
}

/** Compares the places that both versions have. */
const compareCommon = (
  old: Places,
  now: Places,
  compare: (place: string, old: Place, now: Place) => Found[],
): Found[] =>
  [...old].flatMap(([place, before]) => {
    const after = now.get(place);
    return after ? compare(place, before, after) : [];
  });

/** Returns the differences of the operation as a whole. */
function compareOperations(old: Operation, now: Operation): Found[] {
  const scopes = now.scopes?.difference(old.scopes ?? new Set()) ?? new Set();
  const statuses = now.successes.difference(old.successes);
  const errors = now.errors.difference(old.errors);
  const keepsStatuses = old.successes.isSubsetOf(now.successes);
  return listChanges(null, "callers", [
    [now.scopes !== undefined && !old.scopes, "breaking", "needs a token"],
    [scopes.size > 0, "breaking", `needs the scope ${quoted(scopes)}`],
    [
      statuses.size > 0 && old.successes.size > 0,
      keepsStatuses ? "advice" : "breaking",
      `answers with status ${quoted(statuses)}`,
    ],
    [errors.size > 0, "advice", `may answer with status ${quoted(errors)}`],
    [now.isDeprecated && !old.isDeprecated, "advice", "becomes deprecated"],
  ]);
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
      ...onlyIn(before.request, after.request).flatMap(([place]) =>
        listChanges(place, "senders", [[true, "breaking", "is gone"]]),
      ),
      ...onlyIn(after.request, before.request).flatMap(([place, { required }]) =>
        listChanges(place, "senders", [
          [required, "breaking", "is new and required", { concern: "omitters" }],
          [!required, "safe", "is new"],
        ]),
      ),
      ...compareCommon(before.request, after.request, compareSent),
      ...onlyIn(before.answer, after.answer).flatMap(([place]) =>
        listChanges(place, "readers", [[true, "breaking", "is gone"]]),
      ),
      ...onlyIn(after.answer, before.answer).flatMap(([place]) =>
        listChanges(place, "readers", [[true, "safe", "is new"]]),
      ),
      ...compareCommon(before.answer, after.answer, compareAnswers),
    ];
    changes.push(...found.map((change) => ({ ...of, ...change })));
  }
  for (const [key, { name }] of now)
    if (!old.has(key))
      changes.push({ operation: name, place: null, what: "is new", concern: "callers", level: "safe" });
  return changes;
}
