/** The active plan: its decisions about requests, and the conditions that stop it. */
import { errorText } from "../../base/index.ts";
import { AuditUnavailableError } from "../../audit/index.ts";
import { NO_PLAN, type PlanVerdict } from "../../gateway/index.ts";
import { createOpenWindows } from "./open-windows.ts";
import type { PlanInForce, PlanOptions } from "./rules.ts";
import type { Decision, Plan, PlanConditions, PlanQuery, StageWindow } from "./plan.ts";
import { planClientOf, provenClient } from "./proven-client.ts";
import { StormGuard } from "./storms.ts";

/** A gateway without a plan. */
export const NO_PLAN_IN_FORCE: PlanInForce = { ...NO_PLAN, endOf: () => undefined, windowsFor: () => [] };

/** The rules of a plan, and the functions that update their state. */
export type PlanRuntime = ReturnType<typeof createPlanInForce>;

/** Creates the function that decides about requests, and counts the decisions. */
function createJudge(
  options: Omit<PlanOptions, "isConfirmed"> & {
    readonly isInForce: () => boolean;
    /** The conditions, without exceptions for individual clients. */
    readonly conditions: PlanConditions;
  },
): PlanInForce["judge"] {
  const { plan, directory, known, log, metrics, clock, isInForce, conditions: sharedConditions } = options;
  const storms = new StormGuard(options);

  /** Returns the conditions for a client, which may be exempt. */
  function conditionsOf({ client, time }: Pick<PlanQuery, "client" | "time">): PlanConditions {
    const { name } = provenClient(client, directory());
    if (name === undefined) return sharedConditions;
    const { isPaused, mayBegin } = sharedConditions;
    return {
      isPaused: (stage) => isPaused(stage) || storms.isExempt(stage, name, time),
      mayBegin,
    };
  }

  /** Counts the plan's decision about a request. */
  function report(
    decision: Decision | undefined,
    query: PlanQuery,
    address: string | undefined,
    conditions: PlanConditions,
  ): PlanVerdict | undefined {
    if (decision) {
      metrics.countStage(decision.stage.name, decision.kind);
      if (decision.kind === "brown_out" && address !== undefined)
        void storms.count(decision, query.client, address);
      return { decision, hiddenFields: undefined };
    }
    const hiddenFields = plan().hiddenFields(query, conditions);
    return hiddenFields.length === 0 ? undefined : { decision, hiddenFields };
  }

  /** Finds out whether the client is known, if that is relevant: in a freeze. */
  return function judge(identity, route, proof) {
    if (!isInForce()) return undefined;
    const query = { client: planClientOf(identity(), directory()), route, time: clock() };
    const { isAccepted, address } = proof ?? {};
    const conditions = proof ? conditionsOf(query) : sharedConditions;
    const decision = plan().decide(query, conditions);
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
  };
}

/** Creates the rules of a plan. */
export function createPlanInForce(options: PlanOptions) {
  const { plan, directory, control, isConfirmed, metrics, clock } = options;
  const windows = createOpenWindows(options);
  const isInForce = (): boolean => control.isKnown() && isConfirmed();
  const conditions: PlanConditions = {
    isPaused: (stage) => control.pauseOf(stage) !== undefined,
    mayBegin: (stage, { from }) => windows.mayBegin(stage, from),
  };

  const rules: PlanInForce = {
    isActive: () => true,
    judge: createJudge({ ...options, isInForce, conditions }),
    link: () => plan().policy ?? plan().guide,
    headersFor: (identity, route) =>
      // Dates that shorten published ones are not sent to any client.
      isConfirmed() ? plan().headersFor(planClientOf(identity(), directory()), route) : undefined,
    endOf: (identity, route) =>
      isConfirmed() ? plan().endOf(planClientOf(identity, directory()), route) : undefined,
    windowsFor: (identity) =>
      isConfirmed()
        ? plan()
            .windowsFor(planClientOf(identity, directory()), clock())
            .filter(({ stage }) => !conditions.isPaused(stage.name))
        : [],
    count: metrics.countStage,
  };
  return {
    ...rules,
    conditions,
    /** Returns whether the plan is applied: the shared state was read, and the plan shortens no published date. */
    isInForce,
    /** Returns the clients that prevent a stage's brown-out from starting, if they are known. */
    blockedBy: (stage: StageWindow["stage"], from: number): readonly string[] =>
      windows.blockedBy(stage, from) ?? [],
    /** Reads the data on which open brown-outs depend. @throws {AuditUnavailableError} */
    readWindows: windows.read,
    /**
     * Reads the same data, combines concurrent reads, and repeats a failed read after a pause. Call this every second.
     * Never rejects.
     */
    prepareWindows: windows.prepare,
  };
}

/** Returns the start of a plan's first freeze. */
const firstFreeze = ({ stages }: Plan): number =>
  Math.min(...stages.flatMap((stage) => (stage.kind === "freeze" ? [stage.date] : [])));
