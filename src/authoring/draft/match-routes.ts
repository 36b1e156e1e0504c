/** Matches the routes of two APIs by their methods, paths, requests and responses. */
import { isParameter, type ApiDescription, type ApiObject, type ApiRoute } from "./api-description.ts";
import { assignBest, type Candidate } from "./assign.ts";
import { matchNames } from "./match-fields.ts";
import { splitIntoWords, type Vocabulary } from "./words.ts";

export type RoutePair = Candidate<ApiRoute, ApiRoute>;

/** Minimum score of a match, and minimum difference between the scores of two candidates. */
const [THRESHOLD, MARGIN] = [0.4, 0.02];
/** The score of the only remaining routes, and the minimum share of the old fields that must match. */
const [LAST, SAME_FIELDS] = [0.65, 0.3];

const comparedPath = (segments: readonly string[]): string =>
  segments.map((segment) => (isParameter(segment) ? "{}" : splitIntoWords(segment).join("_"))).join("/");

/** The properties by which paths are compared. */
interface PathFacts {
  readonly key: string;
  readonly words: readonly string[];
  /** The words of the last literal segment. */
  readonly lastWords: readonly string[];
  readonly parameters: number;
  readonly endsWithParameter: boolean;
}

function factsOf(segments: readonly string[]): PathFacts {
  const written = segments.filter((segment) => !isParameter(segment));
  return {
    key: comparedPath(segments),
    words: written.flatMap(splitIntoWords),
    lastWords: splitIntoWords(written.at(-1) ?? ""),
    parameters: segments.length - written.length,
    endsWithParameter: isParameter(segments.at(-1) ?? ""),
  };
}

/** Returns the facts about all paths of an API. A leading parameter of all paths, such as a tenant, is omitted. */
function readPaths({ routes }: ApiDescription): [ApiRoute, PathFacts][] {
  const hasCommonStart = routes.length > 1 && routes.every(({ segments }) => isParameter(segments[0] ?? ""));
  return routes.map((route) => [route, factsOf(hasCommonStart ? route.segments.slice(1) : route.segments)]);
}

/** Returns the likeness of two methods. A reading call never matches a writing call. */
function methodLikeness(old: string, now: string): number {
  if (old === now) return 1;
  if (old === "GET" || now === "GET" || old === "DELETE" || now === "DELETE") return 0;
  return old === "POST" || now === "POST" ? 0.85 : 0.97;
}

/** Returns the likeness of two paths by their words. */
function pathLikeness(one: PathFacts, other: PathFacts, vocabulary: Vocabulary): number {
  if (one.key === other.key) return 1;
  const difference = Math.abs(one.parameters - other.parameters);
  const last = vocabulary.likeness(one.lastWords, other.lastWords);
  const all = vocabulary.likeness(one.words, other.words);
  return Math.min(0.95, 0.5 * last + 0.5 * all) * 0.6 ** difference;
}

/** The names of an object's fields as words, in any order. */
const fieldNames = new WeakMap<ApiObject, ReadonlySet<string>>();

function fieldNamesOf(object: ApiObject): ReadonlySet<string> {
  const names =
    fieldNames.get(object) ??
    new Set([...object.fields.keys()].map((name) => splitIntoWords(name).toSorted().join(" ")));
  fieldNames.set(object, names);
  return names;
}

/** Returns the likeness of two objects by the names of their fields, from 0 to 1. Few common fields prove little. */
function objectLikeness(old: ApiObject, now: ApiObject): number {
  const [one, other] = [fieldNamesOf(old), fieldNamesOf(now)];
  const common = one.intersection(other).size;
  // A new object may have more fields: the share of the old fields that it contains has the highest weight.
  const all = 0.85 * one.size + 0.15 * Math.min(other.size, 3 * one.size);
  return all === 0 ? 0 : (common / all) * (common / (common + 0.15));
}

/** Minimum number of fields of a body that is used as evidence. */
const MIN_FIELDS = 3;

/** Returns the likeness of the requests and responses of two routes; undefined if they can't be compared. */
function contentLikeness(old: ApiRoute, now: ApiRoute): number | undefined {
  const isLarge = (old.body?.fields.size ?? 0) >= MIN_FIELDS;
  const pairs = [[old.payload.object, now.payload.object], isLarge ? [old.body, now.body] : []] as const;
  const values = pairs.flatMap(([one, other]) => (one && other ? [objectLikeness(one, other)] : []));
  return values.length === 0 ? undefined : Math.max(...values);
}

/**
 * Combines the likeness of paths and contents. Either may be sufficient, and both together prove more. A path with
 * different content proves less.
 */
function joinEvidence(path: number, content: number): number {
  const ofPath = 0.75 * path * (0.4 + 0.6 * Math.min(1, content / 0.4));
  return 0.15 * path + 0.85 * (1 - (1 - ofPath) * (1 - 0.9 * content) - 0.2 * (1 - content));
}

/** Judges whether two routes are the same, by the facts about their paths. */
function judge(
  [old, one]: readonly [ApiRoute, PathFacts],
  [now, other]: readonly [ApiRoute, PathFacts],
  vocabulary: Vocabulary,
): RoutePair | undefined {
  const method = methodLikeness(old.method, now.method);
  if (method === 0 || one.endsWithParameter !== other.endsWithParameter) return undefined;
  if (old.payload.isFile !== now.payload.isFile) return undefined;
  const path = pathLikeness(one, other, vocabulary);
  const content = contentLikeness(old, now);
  const differs = old.payload.isList !== now.payload.isList && old.payload.object && now.payload.object;
  const parameters = 0.9 ** Math.abs(one.parameters - other.parameters);
  const both = content === undefined ? path * 0.95 : joinEvidence(path, content);
  const score = Math.min(0.99, both * method * parameters * (differs ? 0.7 : 1));
  const reasons = [
    old.method === now.method ? "same method" : `${old.method} became ${now.method}`,
    pathReason(path),
    ...(content === undefined ? [] : [`${Math.round(content * 100)} % of the fields are alike`]),
  ];
  return { old, now, score, reasons };
}

function pathReason(likeness: number): string {
  if (likeness === 1) return "same path";
  if (likeness > 0.9) return "same path after renamed parts";
  return likeness > 0.3 ? "paths have words in common" : "other path";
}

/**
 * Returns the number of an object's fields that match a second object; 0 if there are few. An id proves nothing,
 * because most objects have one.
 */
function countSameFields(old: ApiObject, now: ApiObject, vocabulary: Vocabulary): number {
  const pairs = matchNames(old, now, vocabulary);
  const same = pairs.filter((pair) => splitIntoWords(pair.old.name).join() !== "id").length;
  return same >= 2 && same / old.fields.size >= SAME_FIELDS ? same : 0;
}

/** Routes with the facts about their paths. */
type RoutePaths = readonly (readonly [ApiRoute, PathFacts])[];

/** Returns the lists of an API: their objects, and the words of their paths. */
const listsOf = (routes: RoutePaths) =>
  routes.flatMap(([{ payload }, { lastWords }]) =>
    payload.isList && payload.object ? [{ object: payload.object, words: lastWords }] : [],
  );

/**
 * Adds the names of lists that exist in only one API to the vocabulary, if their objects have the same fields:
 * `charges` are `payments`.
 */
function learnNames(old: RoutePaths, now: RoutePaths, vocabulary: Vocabulary): void {
  const [olds, nows] = [listsOf(old), listsOf(now)];
  const onlyIn = (own: typeof olds, others: typeof olds) =>
    own.filter(({ words }) => others.every((other) => vocabulary.likeness(words, other.words) === 0));
  const candidates = onlyIn(nows, olds);
  for (const { object, words } of onlyIn(olds, nows)) {
    const same = candidates.filter((other) => countSameFields(object, other.object, vocabulary) > 0);
    if (same.length === 1) vocabulary.learn(words, same[0]?.words ?? []);
  }
}

/** Returns the kind of a route, for matching the last routes of both sides. */
const kindOf = ({ method, segments, payload }: ApiRoute): string =>
  [method === "PATCH" ? "PUT" : method, isParameter(segments.at(-1) ?? ""), payload.isList].join(" ");

/** Returns the pairs of routes that are the last of their kind on both sides and have several fields in common. */
function matchLast(
  olds: readonly ApiRoute[],
  nows: readonly ApiRoute[],
  vocabulary: Vocabulary,
): RoutePair[] {
  const others = Map.groupBy(nows, kindOf);
  return [...Map.groupBy(olds, kindOf)].flatMap(([kind, [old, ...more]]): RoutePair[] => {
    const [now, ...moreNows] = others.get(kind) ?? [];
    const [object, other] = [old?.payload.object, now?.payload.object];
    if (!old || !now || more.length + moreNows.length > 0 || !object || !other) return [];
    const same = countSameFields(object, other, vocabulary);
    const reasons = [
      "the only such route that is left on both sides",
      `${same} of ${object.fields.size} fields are the same`,
    ];
    return same === 0 ? [] : [{ old, now, score: LAST, reasons }];
  });
}

/** Finds the routes that are the same, each with its score and reasons. Adds to the vocabulary. */
export function matchRoutes(old: ApiDescription, now: ApiDescription, vocabulary: Vocabulary): RoutePair[] {
  const [paths, others] = [readPaths(old), readPaths(now)];
  learnNames(paths, others, vocabulary);
  const candidates = paths.flatMap((route) =>
    others.flatMap((other) => {
      const pair = judge(route, other, vocabulary);
      return pair && pair.score >= THRESHOLD - MARGIN ? [pair] : [];
    }),
  );
  const pairs = assignBest(candidates, THRESHOLD, MARGIN);
  const used = new Set(pairs.flatMap((pair) => [pair.old, pair.now]));
  const left = ({ routes }: ApiDescription) => routes.filter((route) => !used.has(route));
  return [...pairs, ...matchLast(left(old), left(now), vocabulary)];
}
