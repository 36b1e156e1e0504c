/** Matches the routes of two APIs. What is found in one round helps to find more in the next one. */
import { isParameter, routeName, type ApiDescription, type ApiRoute } from "./api-description.ts";
import { assignBest, type Candidate } from "./assign.ts";
import { contentLikeness, ObjectComparison } from "./compare-objects.ts";
import { matchNames } from "./match-fields.ts";
import { wordsOf, type Vocabulary } from "./words.ts";

export interface RoutePair extends Candidate<ApiRoute, ApiRoute> {
  /** Whether each side had only one such route left. */
  readonly isLast?: true;
}

interface JudgedPair extends RoutePair {
  /** Whether the path or the content alone says that they are the same, if there is no other such route. */
  readonly isPlausible: boolean;
}

/** Below it nothing is claimed, and two routes that differ by less are both possible. */
const [THRESHOLD, MARGIN] = [0.6, 0.02];
/** The same for routes of which the path or the content is the same, and that no other route is like. */
const [ALONE_THRESHOLD, ALONE_MARGIN] = [0.2, 0.1];
/** Pairs that are as good teach words and prefixes. */
const TEACHING = 0.75;
const ROUNDS = 4;
/** The score of the only routes that are left, and the part of the old fields that must be the same. */
const [LAST, LAST_FIELDS] = [0.65, 0.3];

const keyOf = (segments: readonly string[]): string =>
  segments.map((segment) => (isParameter(segment) ? "{}" : wordsOf(segment).join("_"))).join("/");

/** What paths are compared by. */
interface PathFacts {
  readonly key: string;
  /** The keys of all beginnings: the first has one segment. */
  readonly prefixes: readonly string[];
  readonly words: readonly string[];
  /** The words of the last written segment. */
  readonly lastWords: readonly string[];
  readonly parameters: number;
  readonly endsWithParameter: boolean;
}

const knownFacts = new WeakMap<readonly string[], PathFacts>();

/** Each path is compared with all others: what it is compared by is found once. */
function factsOf(segments: readonly string[]): PathFacts {
  const known = knownFacts.get(segments);
  if (known) return known;
  const written = segments.filter((segment) => !isParameter(segment));
  const facts = {
    key: keyOf(segments),
    prefixes: segments.map((_, index) => keyOf(segments.slice(0, index + 1))),
    words: written.flatMap(wordsOf),
    lastWords: wordsOf(written.at(-1) ?? ""),
    parameters: segments.length - written.length,
    endsWithParameter: isParameter(segments.at(-1) ?? ""),
  };
  knownFacts.set(segments, facts);
  return facts;
}

/** How alike two methods are. A call that reads is never one that writes. */
function methodLikeness(old: string, now: string): number {
  if (old === now) return 1;
  if (old === "GET" || now === "GET" || old === "DELETE" || now === "DELETE") return 0;
  return old === "POST" || now === "POST" ? 0.85 : 0.97;
}

/** What the rounds have found so far: the new path of each old one. */
type Prefixes = ReadonlyMap<string, string>;

/** How alike two paths are by their words alone. */
function wordLikeness(old: readonly string[], now: readonly string[], vocabulary: Vocabulary): number {
  const [one, other] = [factsOf(old), factsOf(now)];
  if (one.endsWithParameter !== other.endsWithParameter) return 0;
  if (one.key === other.key) return 1;
  const difference = Math.abs(one.parameters - other.parameters);
  const last = vocabulary.likeness(one.lastWords, other.lastWords);
  const all = vocabulary.likeness(one.words, other.words);
  return Math.min(0.95, 0.5 * last + 0.5 * all) * 0.6 ** difference;
}

/** How alike two paths are, the longest prefix replaced of which the new one is known. */
function pathLikeness(old: ApiRoute, now: ApiRoute, vocabulary: Vocabulary, prefixes: Prefixes): number {
  const plain = wordLikeness(old.segments, now.segments, vocabulary);
  const whole = factsOf(now.segments).key;
  for (let length = old.segments.length; length > 0; length -= 1) {
    const prefix = prefixes.get(factsOf(old.segments).prefixes[length - 1] ?? "");
    if (prefix === undefined) continue;
    const [rest, depth] = [old.segments.slice(length), prefix.split("/").length];
    if (whole !== prefix && !whole.startsWith(`${prefix}/`)) {
      // The route itself, or the one of which it is a part, has become another one.
      if (length >= old.segments.length - 1) return plain * 0.7;
      continue;
    }
    const otherRest = now.segments.slice(depth);
    if (rest.length === 0 && otherRest.length === 0) return Math.max(plain, 0.98);
    if (rest.length === 0 || otherRest.length === 0) continue;
    return Math.max(plain, 0.98 * wordLikeness(rest, otherRest, vocabulary));
  }
  return plain;
}

/** Either the path or the content may be enough; together they are more. A path with another content proves less. */
function joinEvidence(path: number, content: number): number {
  const ofPath = 0.75 * path * (0.4 + 0.6 * Math.min(1, content / 0.4));
  return 0.15 * path + 0.85 * (1 - (1 - ofPath) * (1 - 0.9 * content) - 0.2 * (1 - content));
}

interface Knowledge {
  readonly vocabulary: Vocabulary;
  readonly prefixes: Prefixes;
  readonly objects: ObjectComparison;
}

function judge(
  old: ApiRoute,
  now: ApiRoute,
  { vocabulary, prefixes, objects }: Knowledge,
): JudgedPair | undefined {
  const method = methodLikeness(old.method, now.method);
  const [one, other] = [factsOf(old.segments), factsOf(now.segments)];
  if (method === 0 || one.endsWithParameter !== other.endsWithParameter) return undefined;
  if (old.payload.isFile !== now.payload.isFile) return undefined;
  const path = pathLikeness(old, now, vocabulary, prefixes);
  const content = contentLikeness(old, now, objects);
  const differs = old.payload.isList !== now.payload.isList && old.payload.object && now.payload.object;
  const parameters = 0.9 ** Math.abs(one.parameters - other.parameters);
  const both = content === undefined ? path * 0.95 : joinEvidence(path, content);
  const score = Math.min(0.99, both * method * parameters * (differs ? 0.7 : 1));
  const isPlausible = path >= 0.9 || (old.method === "GET" && (content ?? 0) >= 0.5);
  const reasons = [
    old.method === now.method ? "same method" : `${old.method} became ${now.method}`,
    path === 1
      ? "same path"
      : path > 0.9
        ? "same path after renamed parts"
        : path > 0.3
          ? "paths have words in common"
          : "other path",
    ...(content === undefined ? [] : [`${Math.round(content * 100)} % of the fields are alike`]),
  ];
  return { old, now, score, reasons, isPlausible };
}

/** Learns words and prefixes from pairs that are nearly certain. */
function learn(pairs: readonly RoutePair[], vocabulary: Vocabulary): Prefixes {
  const votes = new Map<string, Map<string, number>>();
  for (const { old, now, score, isLast } of pairs) {
    if (score < TEACHING && !isLast) continue;
    const [words, others] = [factsOf(old.segments).words, factsOf(now.segments).words];
    const only = words.filter((word) => !others.includes(word));
    const otherOnly = others.filter((word) => !words.includes(word));
    if (!isLast && only.length <= 3 && otherOnly.length <= 3) vocabulary.learn(only, otherOnly, 0.9);
    // The paths of both, and what is before their last names, if these are the same.
    let [length, depth] = [old.segments.length, now.segments.length];
    while (length > 0 && depth > 0) {
      const key = factsOf(old.segments).prefixes[length - 1] ?? "";
      const counts = votes.get(key) ?? new Map<string, number>();
      const target = factsOf(now.segments).prefixes[depth - 1] ?? "";
      counts.set(target, (counts.get(target) ?? 0) + score);
      votes.set(key, counts);
      if (keyOf([old.segments[length - 1] ?? ""]) !== keyOf([now.segments[depth - 1] ?? ""])) break;
      length -= 1;
      depth -= 1;
    }
  }
  return new Map(
    [...votes].map(([key, counts]) => [
      key,
      [...counts].toSorted((one, other) => other[1] - one[1])[0]?.[0] ?? "",
    ]),
  );
}

/** What routes of which there is only one left may be told apart by. */
const kindOf = ({ method, segments, payload }: ApiRoute): string =>
  [method === "PATCH" ? "PUT" : method, factsOf(segments).endsWithParameter, payload.isList].join(" ");

/** Pairs of which each side has only one such route left, and of which several fields are the same. */
function matchLast(left: readonly (readonly ApiRoute[])[], vocabulary: Vocabulary): RoutePair[] {
  const [olds, nows] = left.map((routes) => Map.groupBy(routes, kindOf));
  return [...(olds ?? [])].flatMap(([kind, [old, ...others]]): RoutePair[] => {
    const [now, ...otherNows] = nows?.get(kind) ?? [];
    const [object, other] = [old?.payload.object, now?.payload.object];
    if (!old || !now || others.length + otherNows.length > 0 || !object || !other) return [];
    // An id, which most objects have, proves nothing.
    const pairs = matchNames(object, other, vocabulary);
    const same = pairs.filter((pair) => wordsOf(pair.old.name).join() !== "identifier").length;
    if (same < 2 || same / object.fields.size < LAST_FIELDS) return [];
    return [
      {
        old,
        now,
        score: LAST,
        isLast: true,
        reasons: [
          "the only such route that is left on both sides",
          `${same} of ${object.fields.size} fields are the same`,
        ],
      },
    ];
  });
}

/** Assigns the certain pairs, and then what is left and like no other route. */
function assignRoutes(
  candidates: readonly JudgedPair[],
  [olds, nows]: readonly [readonly ApiRoute[], readonly ApiRoute[]],
  vocabulary: Vocabulary,
): RoutePair[] {
  const certain = assignBest(candidates, THRESHOLD, MARGIN);
  const used = new Set(certain.flatMap(({ old, now }) => [old, now]));
  const left = candidates.filter(({ old, now }) => !used.has(old) && !used.has(now));
  const plausible = new Map(left.map((pair) => [pair as RoutePair, pair.isPlausible]));
  const alone = assignBest(left, ALONE_THRESHOLD, ALONE_MARGIN).filter((pair) => plausible.get(pair));
  for (const { old, now } of alone) used.add(old).add(now);
  const last = matchLast(
    [olds, nows].map((routes) => routes.filter((route) => !used.has(route))),
    vocabulary,
  );
  const marked = alone.map((pair) => ({ ...pair, reasons: [...pair.reasons, "no other route is like it"] }));
  return [...certain, ...marked, ...last];
}

const describe = (pairs: readonly RoutePair[]): string =>
  pairs.map(({ old, now, score }) => `${routeName(old)} ${routeName(now)} ${score}`).join("\n");

/** Finds the routes that are the same, each with its score and reasons, and teaches the vocabulary. */
export function matchRoutes(old: ApiDescription, now: ApiDescription, vocabulary: Vocabulary): RoutePair[] {
  const objects = new ObjectComparison([old, now]);
  let prefixes: Prefixes = new Map();
  let pairs: RoutePair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const candidates = old.routes.flatMap((route) =>
      now.routes.flatMap((other) => {
        const pair = judge(route, other, { vocabulary, prefixes, objects });
        return pair && pair.score >= ALONE_THRESHOLD - ALONE_MARGIN ? [pair] : [];
      }),
    );
    const found = assignRoutes(candidates, [old.routes, now.routes], vocabulary);
    const isStable = describe(found) === describe(pairs);
    pairs = found;
    if (isStable) break;
    prefixes = learn(pairs, vocabulary);
  }
  return pairs;
}
