/** Describes a plan for people: stages, their current effect, the next change, and pauses. */
import type { PlanControl } from "./control.ts";
import { fieldOf, type Plan, type StageTimes } from "./plan.ts";
import type { PlanRuntime } from "./plan-in-force.ts";

/** `over`: there is no further brown-out. `waiting`: a brown-out is due, but clients that it waits for still call. */
export type StageState = "planned" | "active" | "waiting" | "paused" | "over";

/** A plan in the form for the admin API. Times are ISO 8601, in UTC. */
export type PlanStatus = ReturnType<typeof describePlan>;
export type StageStatus = PlanStatus["stages"][number];

/** The known facts about a plan in addition to its file. */
interface PlanFacts {
  readonly control: Pick<PlanControl, "state" | "pauseOf">;
  readonly rules: Pick<PlanRuntime, "blockedBy" | "conditions" | "isInForce">;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

const textOf = (time: number | null | undefined): string | null =>
  time === null || time === undefined ? null : new Date(time).toISOString();

const textsOf = (times: Readonly<Record<string, number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(times).map(([name, time]) => [name, new Date(time).toISOString()]));

/** Describes a plan at a given time. */
export function describePlan(
  plan: Plan,
  { control, rules: { conditions, blockedBy, isInForce }, time }: PlanFacts,
) {
  function stateOf({ stage, from, until, isDue }: StageTimes): StageState {
    if (control.pauseOf(stage.name)) return "paused";
    if (!isDue) return from === undefined && "rule" in stage ? "over" : "planned";
    const isWindow = "rule" in stage && from !== undefined && until !== undefined;
    return isWindow && !conditions.mayBegin(stage, { from, until }) ? "waiting" : "active";
  }

  function describeStage(times: StageTimes) {
    const { stage, from, until } = times;
    const { name, kind, routes, clients, text = null } = stage;
    const state = stateOf(times);
    const { rule, waitFor = [] } = "rule" in stage ? stage : {};
    return {
      name,
      kind,
      state,
      /** For a stage with brown-outs: the start of the open one, otherwise of the next one. */
      from: textOf(from),
      until: textOf(until),
      /** Cron pattern and time zone of the brown-outs, and the length of each in minutes. */
      windows: rule ? { pattern: rule.pattern, zone: rule.zone, minutes: rule.lengthMs / 60_000 } : null,
      /** Object and field that are removed from responses. */
      field: fieldOf(stage),
      routes,
      clients,
      waitFor,
      /** Clients that prevent a brown-out from starting. */
      blockedBy: state === "waiting" && "rule" in stage && from !== undefined ? blockedBy(stage, from) : [],
      text,
    };
  }

  const stages: readonly ReturnType<typeof describeStage>[] = plan.times(time).map(describeStage);
  return {
    announced: new Date(plan.announced).toISOString(),
    end: textOf(plan.dates.end),
    policy: plan.policy ?? null,
    guide: plan.guide ?? null,
    /** Whether the plan decides about requests. It does not before the state store was read. */
    inForce: isInForce(),
    stages,
    allowed: textsOf(plan.dates.allowed),
    /** End dates of individual clients. */
    clientEnds: textsOf(plan.dates.clientEnds),
    ...control.state(),
  };
}
