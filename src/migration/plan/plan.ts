/** The plan for the end of an API. This code makes all its decisions about requests, from known facts. */
import { LRUCache } from "lru-cache";
import { endOf, isWithin, valueOf, type PlanClient, type PlanDates, type Scope } from "./plan-dates.ts";
import { createWindows, type FindWindow, type Window, type WindowRule } from "./windows.ts";

/** The common members of stages. */
interface StageBase extends Scope {
  /** The name of the stage in the console, in the metrics, and for pauses. */
  readonly name: string;
  /** The text for clients. */
  readonly text: string | undefined;
}

/** Refuses clients that have not used the old API before. */
interface FreezeStage extends StageBase {
  readonly kind: "freeze";
  readonly date: number;
}

/** The old API ends for some routes and clients, or for all. */
interface EndStage extends StageBase {
  readonly kind: "end";
  readonly date: number;
}

/** Brown-outs during which the old API fails, or a field is removed. */
interface WindowStage extends StageBase {
  readonly rule: WindowRule;
  /** Clients that must not have called for some time before a brown-out starts. */
  readonly waitFor: readonly string[];
}

/** Brown-outs during which requests fail. */
export interface BrownOutStage extends WindowStage {
  readonly kind: "brown_out";
  readonly status: number;
}

/** Brown-outs during which a field is removed from responses. */
export interface FieldStage extends WindowStage {
  readonly kind: "field";
  readonly object: string;
  readonly field: string;
}

export type Stage = FreezeStage | BrownOutStage | EndStage | FieldStage;

/** A valid plan. */
export interface PlanDefinition {
  readonly announced: number;
  readonly dates: PlanDates;
  readonly policy: string | undefined;
  readonly guide: string | undefined;
  /** The stages in the order of the file. The last one is the end for all clients, if the plan defines it. */
  readonly stages: readonly Stage[];
}

/** The facts about a request that the plan needs. */
export interface PlanQuery {
  readonly client: PlanClient;
  /** The route's name in the pack. */
  readonly route: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Whether the client used the old API before. Only used if `isFrozen`. Default: true. */
  readonly isKnownClient?: boolean;
}

/** The conditions that stop or delay stages. They are determined outside of the plan. */
export interface PlanConditions {
  isPaused(stage: string): boolean;
  /** Whether a brown-out may start, because all clients that it waits for are silent. */
  mayBegin(stage: BrownOutStage | FieldStage, window: Window): boolean;
}

/** The reason why a request is refused. */
export type Decision =
  | { readonly kind: "freeze"; readonly stage: FreezeStage }
  | { readonly kind: "brown_out"; readonly stage: BrownOutStage; readonly window: Window }
  | { readonly kind: "end"; readonly stage: EndStage; readonly since: number };

/** The times of a stage. Milliseconds since the epoch. */
export interface StageTimes {
  readonly stage: Stage;
  /** For a stage with brown-outs: the start of the open one, otherwise of the next one. */
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** Whether the stage is in force, unless a condition stops it. */
  readonly isDue: boolean;
}

/** A brown-out of a stage. */
export interface StageWindow {
  readonly stage: BrownOutStage | FieldStage;
  readonly window: Window;
}

/** A plan that decides about requests. */
export type Plan = ReturnType<typeof createPlan>;

/**
 * The delay in milliseconds after which a stage starts. The clocks of replicas may differ by two seconds, and no stage
 * may start early by any of them.
 */
const START_DELAY_MS = 2000;

const CACHED_HEADERS = 10_000;

/** Returns the names and fingerprints that a plan contains. */
const mentionedClients = ({ stages, dates }: PlanDefinition): ReadonlySet<string> =>
  new Set([
    ...stages.flatMap(({ clients }) => clients),
    ...Object.keys(dates.allowed),
    ...Object.keys(dates.clientEnds),
  ]);

const hasBegun = (date: number, time: number): boolean => date + START_DELAY_MS <= time;

/** Whether a brown-out is open: it starts after {@link START_DELAY_MS}. */
const isOpen = ({ from, until }: Window, time: number): boolean => hasBegun(from, time) && time < until;

const hasWindows = (stage: Stage): stage is BrownOutStage | FieldStage =>
  stage.kind === "brown_out" || stage.kind === "field";

function isAllowed(dates: PlanDates, client: PlanClient, time: number): boolean {
  const allowed = valueOf(dates.allowed, client);
  return allowed !== undefined && !hasBegun(allowed, time);
}

/** Returns the object and the field that responses lack during the brown-outs of a stage. Null for other stages. */
export const fieldOf = (stage: Stage): string | null =>
  stage.kind === "field" ? `${stage.object}.${stage.field}` : null;

/** Returns the stage that ends a route for a client, which contains the reason. */
function activeEnd(
  ends: readonly EndStage[],
  dates: PlanDates,
  { client, route, time }: PlanQuery,
  { isPaused }: PlanConditions,
): { stage: EndStage; since: number } | undefined {
  if (isAllowed(dates, client, time)) return undefined;
  const own = valueOf(dates.clientEnds, client);
  for (const stage of ends) {
    // A client's own date only replaces the general end.
    const isForAll = stage.routes.length === 0 && stage.clients.length === 0;
    const since = isForAll ? (own ?? stage.date) : stage.date;
    if (hasBegun(since, time) && isWithin(stage, client, route) && !isPaused(stage.name))
      return { stage, since };
  }
  return undefined;
}

function writeHeaders(
  { dates, announced, policy, guide }: PlanDefinition,
  client: PlanClient,
  route: string | null,
): Readonly<Record<string, string>> {
  const end = endOf(dates, client, route);
  const links = [
    ...(guide === undefined ? [] : [`<${guide}>; rel="deprecation"`]),
    ...(policy === undefined ? [] : [`<${policy}>; rel="sunset"`]),
  ];
  return {
    // RFC 9745: `@`, followed by seconds.
    deprecation: `@${announced / 1000}`,
    ...(end !== undefined && { sunset: new Date(end).toUTCString() }),
    ...(links.length > 0 && { link: links.join(", ") }),
  };
}

/** Creates the function that writes the headers of a plan. The headers are cached for clients with the same headers. */
function createHeaders(definition: PlanDefinition) {
  const mentioned = mentionedClients(definition);
  const headers = new LRUCache<string, Readonly<Record<string, string>>>({ max: CACHED_HEADERS });
  /** Returns `Deprecation`, `Sunset` and `Link` for responses. */
  return function headersFor(client: PlanClient, route: string | null): Readonly<Record<string, string>> {
    // Clients and tokens that the plan does not name share their headers.
    const key = [client.name, client.fingerprint].map((each) => (each && mentioned.has(each) ? each : ""));
    const at = [route, ...key].join("\n");
    const cached = headers.get(at);
    if (cached) return cached;
    const written = writeHeaders(definition, client, route);
    headers.set(at, written);
    return written;
  };
}

/** Returns the times of a stage. @param window for a stage with brown-outs: the open one, otherwise the next one */
function timesOf(stage: Stage, window: Window | undefined, time: number): StageTimes {
  if (!hasWindows(stage))
    return {
      stage,
      // If there is no general end, only individual clients have one.
      from: Number.isFinite(stage.date) ? stage.date : undefined,
      until: undefined,
      isDue: hasBegun(stage.date, time),
    };
  if (!window || window.from === Infinity) return { stage, from: undefined, until: undefined, isDue: false };
  return { stage, ...window, isDue: isOpen(window, time) };
}

/** Creates the plan of a definition. */
export function createPlan(definition: PlanDefinition) {
  const { stages, dates } = definition;
  const freezes = stages.filter((stage) => stage.kind === "freeze");
  const ends = stages.filter((stage) => stage.kind === "end");
  const withWindows = stages.filter(hasWindows).map((stage) => ({ stage, find: createWindows(stage.rule) }));
  const finder = new Map<Stage, FindWindow>(withWindows.map(({ stage, find }) => [stage, find]));

  const hasFields = stages.some(({ kind }) => kind === "field");

  /** Returns the open brown-out, otherwise the next one, of each stage. */
  const windowsOf = (time: number): readonly StageWindow[] =>
    withWindows.map(({ stage, find }) => ({ stage, window: find(time) }));

  /** Whether a stage applies to a request, and no condition stops it. */
  const applies = (stage: Stage, { client, route, time }: PlanQuery, { isPaused }: PlanConditions): boolean =>
    isWithin(stage, client, route) && !isPaused(stage.name) && !isAllowed(dates, client, time);

  const activeFreeze = (query: PlanQuery, conditions: PlanConditions): FreezeStage | undefined =>
    freezes.find((stage) => hasBegun(stage.date, query.time) && applies(stage, query, conditions));

  /** Returns the stages with an open brown-out for a request, and the brown-outs. */
  const openWindows = (query: PlanQuery, conditions: PlanConditions): readonly StageWindow[] =>
    windowsOf(query.time).filter(
      ({ stage, window }) =>
        isOpen(window, query.time) && applies(stage, query, conditions) && conditions.mayBegin(stage, window),
    );

  return {
    ...definition,
    /** Whether new clients are currently refused on a route, so that it is relevant whether a client is new. */
    isFrozen: (query: PlanQuery, conditions: PlanConditions): boolean =>
      activeFreeze(query, conditions) !== undefined,
    /** Decides about a request; undefined: it is served. */
    decide(query: PlanQuery, conditions: PlanConditions): Decision | undefined {
      const end = activeEnd(ends, dates, query, conditions);
      if (end) return { kind: "end", ...end };
      const freeze = query.isKnownClient === false ? activeFreeze(query, conditions) : undefined;
      if (freeze) return { kind: "freeze", stage: freeze };
      let last: Extract<Decision, { kind: "brown_out" }> | undefined;
      for (const { stage, window } of openWindows(query, conditions))
        if (stage.kind === "brown_out" && window.until > (last?.window.until ?? 0))
          last = { kind: "brown_out", stage, window };
      return last;
    },
    /** Returns the stages that remove a field from the responses to a request. */
    hiddenFields: (query: PlanQuery, conditions: PlanConditions): readonly FieldStage[] =>
      hasFields
        ? openWindows(query, conditions).flatMap(({ stage }) => (stage.kind === "field" ? [stage] : []))
        : [],
    /** Returns the date on which a route ends for a client; undefined: no date is known. */
    endOf: (client: PlanClient, route: string | null): number | undefined => endOf(dates, client, route),
    headersFor: createHeaders(definition),
    times: (time: number): readonly StageTimes[] =>
      stages.map((stage) => timesOf(stage, finder.get(stage)?.(time), time)),
    /** Returns the open brown-out, otherwise the next one, of each stage that applies to a client, the earliest first. */
    windowsFor: (client: PlanClient, time: number): readonly StageWindow[] =>
      windowsOf(time)
        .filter(
          ({ stage, window: { from } }) =>
            from < (endOf(dates, client, null) ?? Infinity) &&
            isWithin({ routes: [], clients: stage.clients }, client, null) &&
            !isAllowed(dates, client, Math.max(from, time)),
        )
        .toSorted((one, other) => one.window.from - other.window.from),
    /** Returns the brown-outs that are open, or open within the given milliseconds. */
    windowsAt: (time: number): readonly StageWindow[] =>
      windowsOf(time).filter(({ window }) => window.from <= time),
  };
}
