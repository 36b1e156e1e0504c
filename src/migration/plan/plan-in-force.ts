/** The plan in force: what it decides about requests, and what stops it. */
import { isDeepStrictEqual } from "node:util";
import { errorText, type Log, type Metrics } from "../../base/index.ts";
import {
  AuditUnavailableError,
  type ClientDirectory,
  type ClientIdentity,
  type DecisionReader,
} from "../../audit/index.ts";
import { NO_PLAN, type PlanRules, type PlanVerdict, provenBy } from "../../gateway/index.ts";
import type { PlanControl } from "./control.ts";
import type { KnownClients } from "./known-clients.ts";
import type { Decision, Plan, PlanConditions, PlanQuery, StageWindow } from "./plan.ts";
import type { PlanClient } from "./plan-dates.ts";
import { provenClient } from "./proven-client.ts";
import { findCalling, readUsualRate } from "./recorded-traffic.ts";
import { watchStorms } from "./retry-storms.ts";
import { type StormingClient, StormingClients } from "./storming-clients.ts";

/** The rules of a plan, and the data for the page of a client. */
export interface PlanInForce extends PlanRules {
  /** When a route ends for a client, in milliseconds since the epoch; undefined: no date is known. */
  endOf(identity: ClientIdentity, route: string | null): number | undefined;
  /** The open window, or else the next one, of each stage that a client is in and that is not paused. */
  windowsFor(identity: ClientIdentity): readonly StageWindow[];
}

/** A gateway without a plan. */
export const NO_PLAN_IN_FORCE: PlanInForce = { ...NO_PLAN, endOf: () => undefined, windowsFor: () => [] };

export interface PlanOptions {
  /** The plan of the file. */
  readonly plan: () => Plan;
  readonly directory: () => ClientDirectory;
  readonly control: PlanControl;
  /** Whether the dates of the plan were compared with those that were published. */
  readonly isConfirmed: () => boolean;
  readonly known: KnownClients | undefined;
  /** Undefined without an audit store, as `known`: a plan with a freeze or with `wait_for` needs it. */
  readonly decisions: DecisionReader | undefined;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "countStage">;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

type BrownOut = Extract<Decision, { kind: "brown_out" }>;

/** Pause before traffic that could not be read is read again. */
const RETRY_MS = 10_000;

/** The known facts about an open window. */
interface OpenWindow {
  readonly from: number;
  readonly waitFor: readonly string[];
  /** Clients that it waits for, and that called. */
  readonly blockedBy: readonly string[];
}

/** The rules of a plan, and what keeps them up to date. */
export interface PlanRuntime extends PlanInForce {
  readonly conditions: PlanConditions;
  /** The clients that keep a window of a stage from beginning, as far as they are known. */
  blockedBy(stage: StageWindow["stage"], from: number): readonly string[];
  /** Whether the plan is applied: the shared state was read, and the plan shortens no published date. */
  isInForce(): boolean;
  /** Reads what open windows depend on. @throws {AuditUnavailableError} */
  readWindows(): Promise<void>;
  /** The same, once at a time, and again after a pause if it fails. Call it every second. Never rejects. */
  prepareWindows(): Promise<void>;
}

/** Creates the rules of a plan. */
export function createPlanInForce({
  plan,
  directory,
  control,
  isConfirmed,
  known,
  decisions,
  log,
  metrics,
  clock = Date.now,
}: PlanOptions): PlanRuntime {
  const open = new Map<string, OpenWindow>();
  const storms = watchStorms();
  const storming = new StormingClients();
  let retryAt = 0;
  let preparing: Promise<void> | undefined;

  /** A changed plan may wait for other clients in a window that is open. */
  const openWindow = ({ name, waitFor }: StageWindow["stage"], from: number): OpenWindow | undefined => {
    const found = open.get(name);
    return found?.from === from && isDeepStrictEqual(found.waitFor, waitFor) ? found : undefined;
  };

  const sharedConditions: PlanConditions = {
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
    // Where nobody knows who called, it waits for all.
    const blockedBy = decisions ? await findCalling(decisions, directory(), waitFor, from) : waitFor;
    open.set(name, { from, waitFor, blockedBy });
    if (blockedBy.length > 0)
      log.warn(
        { code: "AG_SUNSET_WINDOW_WAITS", stage: name, clients: blockedBy },
        "a window of the plan does not begin: clients that it waits for called within 14 days",
      );
  }

  async function readWindows(): Promise<void> {
    for (const each of plan().windowsAt(clock())) {
      const { stage, window } = each;
      if (stage.waitFor.length > 0 && !openWindow(stage, window.from)) await prepare(each);
    }
  }

  async function prepareOpen(): Promise<void> {
    if (clock() < retryAt) return;
    try {
      await readWindows();
    } catch (error) {
      retryAt = clock() + RETRY_MS;
      log.error(
        { code: "AG_SUNSET_TRAFFIC_UNKNOWN", error: errorText(error) },
        "the traffic before a window can't be read: windows that wait for clients don't begin",
      );
    }
  }

  /** Lets the client through until the window ends. If several clients storm, the stage is paused for all. */
  function endStorm({ stage: { name: stage }, window }: BrownOut, client: StormingClient): void {
    const clients = storming.add(stage, window, client);
    log.error(
      { code: "AG_SUNSET_STORM", stage, client: client.name, isPaused: clients !== undefined },
      "a client answers a window with a storm of retries: the window lets it through; if several do, the stage is paused",
    );
    if (clients === undefined) return;
    const reason = `${clients.join(", ")} answered with storms of retries`;
    control.pause({ stage, by: "gateway", reason }).catch((error: unknown) => {
      log.error(
        { code: "AG_SUNSET_PAUSE_FAILED", stage, error: errorText(error) },
        "a stage of the plan could not be paused",
      );
    });
  }

  function countRetry(decision: BrownOut, client: PlanClient, address: string): void {
    const { stage, window } = decision;
    const { name, keys } = provenClient(client, directory());
    if (!decisions || name === undefined) return;
    const { fingerprint: token } = client;
    const by = name === token ? provenBy(undefined, token, address) : provenBy(name, undefined, address);
    const readUsual = (): Promise<number | undefined> => readUsualRate(decisions, keys, window.from);
    storms.count(name, clock(), readUsual).then(
      (isStorm) => isStorm && endStorm(decision, { name, by }),
      (error: unknown) =>
        log.error(
          { code: "AG_SUNSET_RATE_UNKNOWN", stage: stage.name, client: name, error: errorText(error) },
          "how much a client usually calls can't be read: its retries are not taken for a storm",
        ),
    );
  }

  /** The conditions for a client that may have been let through. */
  function conditionsOf({ client, time }: Pick<PlanQuery, "client" | "time">): PlanConditions {
    const { name } = provenClient(client, directory());
    if (name === undefined) return sharedConditions;
    const { isPaused, mayBegin } = sharedConditions;
    return {
      isPaused: (stage) => isPaused(stage) || storming.isExempt(stage, name, time),
      mayBegin,
    };
  }

  /** Counts what the plan does to a request. */
  function report(
    decision: Decision | undefined,
    query: Omit<PlanQuery, "isKnownClient">,
    address: string | undefined,
    conditions: PlanConditions,
  ): PlanVerdict | undefined {
    if (decision) {
      metrics.countStage(decision.stage.name, decision.kind);
      if (decision.kind === "brown_out" && address !== undefined) countRetry(decision, query.client, address);
      return { decision, hiddenFields: undefined };
    }
    const hiddenFields = plan().hiddenFields(query, conditions);
    return hiddenFields.length === 0 ? undefined : { decision, hiddenFields };
  }

  /** Asks whether the client is known, where that matters: in a freeze. */
  function judge(
    ...[identity, route, proof]: Parameters<PlanInForce["judge"]>
  ): ReturnType<PlanInForce["judge"]> {
    if (!isInForce()) return undefined;
    const query = { client: clientOf(identity()), route, time: clock() };
    const { isAccepted, address } = proof ?? {};
    const conditions = proof ? conditionsOf(query) : sharedConditions;
    const decision = plan().decide({ ...query, isKnownClient: true }, conditions);
    if (!known || !isAccepted || decision?.kind === "end" || !plan().isFrozen(query, conditions))
      return report(decision, query, address, conditions);
    const judgeKnown = (isKnownClient: boolean): PlanVerdict | undefined =>
      report(plan().decide({ ...query, isKnownClient }, conditions), query, address, conditions);
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
    conditions: sharedConditions,
    isActive: () => true,
    judge,
    isInForce,
    link: () => plan().policy ?? plan().guide,
    headersFor: (identity, route) =>
      // Dates that shorten published ones are not sent to anybody.
      isConfirmed() ? plan().headersFor(clientOf(identity()), route) : undefined,
    endOf: (identity, route) => (isConfirmed() ? plan().endOf(clientOf(identity), route) : undefined),
    windowsFor: (identity) =>
      isConfirmed()
        ? plan()
            .windowsFor(clientOf(identity), clock())
            .filter(({ stage }) => !sharedConditions.isPaused(stage.name))
        : [],
    count: metrics.countStage,
    blockedBy: (stage, from) => openWindow(stage, from)?.blockedBy ?? [],
    readWindows,
    prepareWindows: () => (preparing ??= prepareOpen().finally(() => (preparing = undefined))),
  };
}

/** When the first freeze of a plan begins. */
const firstFreeze = ({ stages }: Plan): number =>
  Math.min(...stages.flatMap((stage) => (stage.kind === "freeze" ? [stage.date] : [])));
