/** A plan as people read it: stages, what runs now, what is next, and who paused it. */
import type { ControlEvent, Pause, PlanControl } from "./control.ts";
import type { Plan, Stage, StageTimes } from "./plan.ts";
import type { PlanRuntime } from "./plan-in-force.ts";

/** `over`: no window comes any more. `waiting`: a window is due, and clients that it waits for still call. */
export type StageState = "planned" | "active" | "waiting" | "paused" | "over";

/** A stage, as the admin API returns it. Times are ISO 8601, in UTC. */
export interface StageStatus {
  readonly name: string;
  readonly kind: Stage["kind"];
  readonly state: StageState;
  /** A stage with windows: of the open window, or of the next one. */
  readonly from: string | null;
  readonly until: string | null;
  /** Cron pattern and zone of the windows, and how many minutes each lasts. */
  readonly windows: { readonly pattern: string; readonly zone: string; readonly minutes: number } | null;
  /** Object and field that are left out of responses. */
  readonly field: string | null;
  readonly routes: readonly string[];
  readonly clients: readonly string[];
  readonly waitFor: readonly string[];
  /** Clients that keep a window from its beginning. */
  readonly blockedBy: readonly string[];
  readonly text: string | null;
}

/** A plan, as the admin API returns it. */
export interface PlanStatus {
  readonly announced: string;
  readonly end: string | null;
  readonly policy: string | null;
  readonly guide: string | null;
  /** Whether requests are decided by the plan: not before the state store was read. */
  readonly inForce: boolean;
  readonly stages: readonly StageStatus[];
  readonly allowed: Readonly<Record<string, string>>;
  /** Ends of single clients. */
  readonly clientEnds: Readonly<Record<string, string>>;
  readonly pauses: readonly Pause[];
  readonly events: readonly ControlEvent[];
}

/** The known facts about a plan besides its file. */
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

/** Describes a plan at a time. */
export function describePlan(
  plan: Plan,
  { control, rules: { conditions, blockedBy, isInForce }, time }: PlanFacts,
): PlanStatus {
  const { pauses, events } = control.state();

  function stateOf({ stage, from, until, isDue }: StageTimes): StageState {
    if (control.pauseOf(stage.name)) return "paused";
    if (!isDue) return from === undefined && "rule" in stage ? "over" : "planned";
    const isWindow = "rule" in stage && from !== undefined && until !== undefined;
    return isWindow && !conditions.mayBegin(stage, { from, until }) ? "waiting" : "active";
  }

  return {
    announced: new Date(plan.announced).toISOString(),
    end: textOf(plan.dates.end),
    policy: plan.policy ?? null,
    guide: plan.guide ?? null,
    inForce: isInForce(),
    stages: plan.times(time).map((times) => {
      const { stage, from, until } = times;
      const state = stateOf(times);
      return {
        name: stage.name,
        kind: stage.kind,
        state,
        from: textOf(from),
        until: textOf(until),
        windows:
          "rule" in stage
            ? {
                pattern: stage.rule.pattern,
                zone: stage.rule.zone,
                minutes: stage.rule.lengthMs / 60_000,
              }
            : null,
        field: stage.kind === "field" ? `${stage.object}.${stage.field}` : null,
        routes: stage.routes,
        clients: stage.clients,
        waitFor: "waitFor" in stage ? stage.waitFor : [],
        blockedBy: state === "waiting" && "rule" in stage && from !== undefined ? blockedBy(stage, from) : [],
        text: stage.text ?? null,
      };
    }),
    allowed: textsOf(plan.dates.allowed),
    clientEnds: textsOf(plan.dates.clientEnds),
    pauses,
    events,
  };
}
