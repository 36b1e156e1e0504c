/** Finds the effects of changes between two versions of an API on the known clients. */
import type { Pack } from "../../pack/index.ts";
import { compareSurfaces, type Change } from "./compare-surfaces.ts";
import { answerQuestions, type Effect, type ImpactContext } from "./noticing-clients.ts";
import { packSurface } from "./pack-surface.ts";
import type { Surface } from "./surface.ts";
import { UpstreamUse } from "./upstream-use.ts";

const VERDICTS = ["breaking and used", "breaking and unused", "advice", "safe"] as const;
type Verdict = (typeof VERDICTS)[number];

/** The effect of changes. */
export type Impact = Awaited<ReturnType<typeof findPackImpact | typeof findUpstreamImpact>>;
/** A change, with the clients that would notice it. */
export type ChangeImpact = Impact["changes"][number];

const NOTHING: Effect = { questions: [], names: [] };

function verdictOf({ level }: Change, isUsed: boolean): Verdict {
  if (level !== "breaking") return level;
  return isUsed ? "breaking and used" : "breaking and unused";
}

/** Combines changes with the summaries. @throws {AuditUnavailableError} */
async function joinImpact(
  changes: readonly Change[],
  effectOf: (change: Change) => Effect | undefined,
  context: ImpactContext,
) {
  const effects = changes.map((change) => ({
    change,
    ...(change.level === "safe" ? NOTHING : (effectOf(change) ?? NOTHING)),
  }));
  const { answers, clientsOf, namesSince } = await answerQuestions(effects, context);
  const all = answers.map(({ change, questions, names, clients, isExact }) => ({
    ...change,
    verdict: verdictOf(change, clients.length > 0),
    /**
     * The affected routes of clients, and the affected names. For a change of the pack itself: the route and names of
     * the change.
     */
    routes: [...new Set(questions.map(({ route }) => route))],
    names,
    /**
     * False if the summaries don't count the changed name. The list then also contains clients that would not notice.
     */
    isExact,
    clients,
  }));
  const breaking = clientsOf(({ change }) => change.level === "breaking");
  return {
    /** The first day on which names were counted, if there are earlier calls; otherwise null. */
    namesSince,
    /** Breaking changes come first. */
    changes: VERDICTS.flatMap((verdict) => all.filter((each) => each.verdict === verdict)),
    /** All clients that a breaking change affects. */
    clients: breaking.map(({ sends: _sends, ...client }) => client),
    counts: Object.fromEntries(
      VERDICTS.map((verdict) => [verdict, all.filter((each) => each.verdict === verdict).length]),
    ) as Readonly<Record<Verdict, number>>,
  };
}

/** Returns the place that must be sent before a new member inside it has an effect, because clients may omit it. */
function outerPlace({ operation, place }: Change, old: Surface): string | undefined {
  const outer = place?.slice(0, place.lastIndexOf("."));
  const operations = [...old.values()].find(({ name }) => name === operation);
  const found = outer === undefined ? undefined : operations?.request.get(outer);
  return found && !found.required ? outer : undefined;
}

/** Returns the name under which a place of a request is counted. */
function countedName(pack: Pack, route: string, place: string): string {
  const parameter = place.startsWith("query.") ? place.slice("query.".length) : "";
  const filters = pack.routes.flatMap(({ name, queryFilter }) =>
    name === route && queryFilter ? [queryFilter] : [],
  );
  const field = filters.map(({ parameters }) => parameters.get(parameter)?.field).find(Boolean);
  return field === undefined ? place : `filter.${field}`;
}

/** Returns the effect of a change of a pack: its operations are routes of clients. */
function effectOfPackChange(change: Change, pack: Pack, old: Surface): Effect {
  const { operation: route, place, word, concern } = change;
  if (place === null || concern === "callers" || concern === "readers")
    return { questions: [{ route, concern }], names: place === null ? [] : [place] };
  const name = countedName(pack, route, place);
  const names = [word === undefined ? name : `${name}=${word}`];
  return { questions: [{ route, concern, names, within: outerPlace(change, old) }], names };
}

/** Finds the effect of a new pack on the clients of a pack. @throws {AuditUnavailableError} */
export async function findPackImpact(old: Pack, now: Pack, context: ImpactContext) {
  const surface = packSurface(old);
  const changes = compareSurfaces(surface, packSurface(now));
  const joined = await joinImpact(changes, (change) => effectOfPackChange(change, old, surface), context);
  return { kind: "pack" as const, ...joined, unknownCalls: 0 };
}

/** The documents contain no call of the pack, so they describe a different service. */
export class OtherServiceError extends Error {
  override readonly name = "OtherServiceError";
  readonly code = "AG_OPENAPI_OTHER_SERVICE";
}

/**
 * Finds the effect of a new version of the upstream on the clients of a pack.
 *
 * @param words Members that expressions of the pack may read
 * @throws {AuditUnavailableError} {OtherServiceError} if the old version contains no operation that the pack calls
 */
export async function findUpstreamImpact(
  old: Surface,
  now: Surface,
  { pack, words, ...context }: ImpactContext & { readonly pack: Pack; readonly words: ReadonlySet<string> },
) {
  const use = new UpstreamUse(pack, words);
  const { called, known } = use.count([...old.values()].map(({ name }) => name));
  if (known === 0)
    throw new OtherServiceError(
      "The old document has none of the calls of the pack: compare the paths, and those of its `servers`, with `base_path` of the upstream.",
    );
  const joined = await joinImpact(compareSurfaces(old, now), (change) => use.effectOf(change), context);
  // Calls of the pack that are missing in the old document are not compared.
  return { kind: "openapi" as const, ...joined, unknownCalls: called - known };
}
