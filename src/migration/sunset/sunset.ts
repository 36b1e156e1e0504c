/** The plan in force: what it decides about requests, and what stops it. */
import { isDeepStrictEqual } from "node:util";
import { errorText, type Log, type Metrics } from "../../base/index.ts";
import {
  AuditUnavailableError,
  type ClientDirectory,
  type ClientIdentity,
  type DecisionReader,
} from "../../audit/index.ts";
import { NO_PLAN, type PlanRules, type Verdict } from "../../gateway/index.ts";
import type { SunsetControl } from "./control.ts";
import type { KnownClients } from "./known-clients.ts";
import type { Decision, Plan, PlanConditions, PlanQuery, StageWindow } from "./plan.ts";
import type { PlanClient } from "./plan-dates.ts";
import { provenClient } from "./proven-client.ts";
import { findCalling, readUsualRate } from "./recorded-traffic.ts";
import { watchStorms } from "./retry-storms.ts";

/** The rules of a plan, and what else the page of a client has of them. */
export interface SunsetRules extends PlanRules {
  /** When a route ends for a client, in milliseconds since the epoch; undefined: no date is known. */
  endOf(identity: ClientIdentity, route: string | null): number | undefined;
  /** The open window, or else the next one, of each stage that a client is in and that is not paused. */
  windowsFor(identity: ClientIdentity): readonly StageWindow[];
}

/** A gateway without a plan. */
export const NO_SUNSET: SunsetRules = { ...NO_PLAN, endOf: () => undefined, windowsFor: () => [] };

export interface SunsetOptions {
  /** The plan of the file. */
  readonly plan: () => Plan;
  readonly directory: () => ClientDirectory;
  readonly control: SunsetControl;
  /** Whether the dates of the plan were compared with those that were published. */
  readonly isConfirmed: () => boolean;
  readonly known: KnownClients | undefined;
  /** Undefined without an audit store, as `known`: a plan with a freeze or with `wait_for` needs it. */
  readonly decisions: DecisionReader | undefined;
  readonly replicas: () => number;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "countStage">;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** Pause before traffic that could not be read is read again. */
const RETRY_MS = 10_000;

/** What is known about an open window. */
interface OpenWindow {
  readonly from: number;
  readonly waitFor: readonly string[];
  /** Clients that it waits for, and that called. */
  readonly blockedBy: readonly string[];
}

/** The rules of a plan, and what keeps them up to date. */
export interface SunsetRuntime extends SunsetRules {
  readonly conditions: PlanConditions;
  /** Clients because of which a window of a stage that began at a time does not begin, as far as it is known. */
  blockedBy(stage: StageWindow["stage"], from: number): readonly string[];
  /** Whether the plan is applied: the shared state was read, and the plan shortens no published date. */
  isInForce(): boolean;
  /** Reads what open windows depend on, once at a time. Call it every second. Never rejects. */
  prepareWindows(): Promise<void>;
}

/** Creates the rules of a plan. */
export function createSunset({
  plan,
  directory,
  control,
  isConfirmed,
  known,
  decisions,
  replicas,
  log,
  metrics,
  clock = Date.now,
}: SunsetOptions): SunsetRuntime {
  const open = new Map<string, OpenWindow>();
  const storms = watchStorms(replicas);
  let retryAt = 0;
  let preparing: Promise<void> | undefined;

  /** A changed plan may wait for other clients in a window that is open. */
  const openWindow = ({ name, waitFor }: StageWindow["stage"], from: number): OpenWindow | undefined => {
    const found = open.get(name);
    return found?.from === from && isDeepStrictEqual(found.waitFor, waitFor) ? found : undefined;
  };

  const conditions: PlanConditions = {
    isPaused: (stage) => control.pauseOf(stage) !== undefined,
    mayBegin(stage, window) {
      if (stage.waitFor.length === 0) return true;
      // Until it is known who called, the window does not begin.
      return openWindow(stage, window.from)?.blockedBy.length === 0;
    },
  };

  const clientOf = (identity: ClientIdentity): PlanClient => ({
    name: directory().nameOf(identity),
    fingerprint: identity.fingerprint ?? undefined,
    application: identity.application ?? undefined,
    label: identity.label ?? undefined,
  });

  const isInForce = (): boolean => control.isKnown() && isConfirmed();

  async function prepare({ stage: { name, waitFor }, window: { from } }: StageWindow): Promise<void> {
    const blockedBy = decisions ? await findCalling(decisions, directory(), waitFor, from) : [];
    open.set(name, { from, waitFor, blockedBy });
    if (blockedBy.length > 0)
      log.warn(
        { code: "AG_SUNSET_WINDOW_WAITS", stage: name, clients: blockedBy },
        "a window of the plan does not begin: clients that it waits for called within 14 days",
      );
  }

  async function prepareOpen(): Promise<void> {
    const now = clock();
    if (now < retryAt) return;
    try {
      for (const each of plan().windowsAt(now)) {
        const { stage, window } = each;
        if (stage.waitFor.length > 0 && !openWindow(stage, window.from)) await prepare(each);
      }
    } catch (error) {
      retryAt = clock() + RETRY_MS;
      log.error(
        { code: "AG_SUNSET_TRAFFIC_UNKNOWN", error: errorText(error) },
        "the traffic before a window can't be read: windows that wait for clients don't begin",
      );
    }
  }

  function pauseInStorm(stage: string, client: string): void {
    log.error(
      { code: "AG_SUNSET_STORM", stage, client },
      "a client answers a window with a storm of retries: the stage is paused until somebody resumes it",
    );
    const reason = `${client} answered with a storm of retries`;
    control.pause({ stage, by: "gateway", reason }).catch((error: unknown) => {
      log.error(
        { code: "AG_SUNSET_PAUSE_FAILED", stage, error: errorText(error) },
        "a stage of the plan could not be paused",
      );
    });
  }

  function countRetry({ stage, window }: Extract<Decision, { kind: "brown_out" }>, client: PlanClient): void {
    const { name, keys } = provenClient(client, directory());
    if (!decisions || name === undefined) return;
    const readUsual = (): Promise<number | undefined> => readUsualRate(decisions, keys, window.from);
    storms.count(name, clock(), readUsual).then(
      (isStorm) => isStorm && pauseInStorm(stage.name, name),
      (error: unknown) =>
        log.error(
          { code: "AG_SUNSET_RATE_UNKNOWN", stage: stage.name, client: name, error: errorText(error) },
          "how much a client usually calls can't be read: its retries are not taken for a storm",
        ),
    );
  }

  /** Counts what the plan does to a request. */
  function report(
    decision: Decision | undefined,
    query: Omit<PlanQuery, "isKnownClient"> & { readonly isProven: boolean },
  ): Verdict | undefined {
    if (decision) {
      metrics.countStage(decision.stage.name, decision.kind);
      if (decision.kind === "brown_out" && query.isProven) countRetry(decision, query.client);
      return { decision, hiddenFields: undefined };
    }
    const hiddenFields = plan().hiddenFields(query, conditions);
    return hiddenFields.length === 0 ? undefined : { decision, hiddenFields };
  }

  /** Asks whether the client is known, where that matters: in a freeze. */
  function judge(
    ...[identity, route, isAccepted]: Parameters<SunsetRules["judge"]>
  ): ReturnType<SunsetRules["judge"]> {
    if (!isInForce()) return undefined;
    const isProven = isAccepted !== undefined;
    const query = { client: clientOf(identity()), route, time: clock(), isProven };
    const decision = plan().decide({ ...query, isKnownClient: true }, conditions);
    if (!known || !isAccepted || decision?.kind === "end" || !plan().isFrozen(query, conditions))
      return report(decision, query);
    const judgeKnown = (isKnownClient: boolean): Verdict | undefined =>
      report(plan().decide({ ...query, isKnownClient }, conditions), query);
    const isKnown = known.isKnown(query.client, firstFreeze(plan()), isAccepted);
    if (typeof isKnown === "boolean") return judgeKnown(isKnown);
    return isKnown.then(judgeKnown, (error: unknown) => {
      if (error instanceof AuditUnavailableError)
        log.error(
          { code: "AG_SUNSET_CLIENT_UNKNOWN", error: errorText(error) },
          "it can't be read whether a client is new: its request fails",
        );
      throw error;
    });
  }

  return {
    conditions,
    isActive: () => true,
    judge,
    isInForce,
    link: () => plan().policy ?? plan().guide,
    headersFor: (identity, route) =>
      // Dates that shorten published ones are not told to anybody.
      isConfirmed() ? plan().headersFor(clientOf(identity()), route) : undefined,
    endOf: (identity, route) => (isConfirmed() ? plan().endOf(clientOf(identity), route) : undefined),
    windowsFor: (identity) =>
      isConfirmed()
        ? plan()
            .windowsFor(clientOf(identity), clock())
            .filter(({ stage }) => !conditions.isPaused(stage.name))
        : [],
    count: metrics.countStage,
    blockedBy: (stage, from) => openWindow(stage, from)?.blockedBy ?? [],
    prepareWindows: () => (preparing ??= prepareOpen().finally(() => (preparing = undefined))),
  };
}

/** When the first freeze of a plan begins. */
const firstFreeze = ({ stages }: Plan): number =>
  Math.min(...stages.flatMap((stage) => (stage.kind === "freeze" ? [stage.date] : [])));
