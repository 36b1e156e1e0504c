/** The status of a plan: stages, their current effect, exceptions for clients, and pauses. */
import {
  type ActionForm,
  type Block,
  type Button,
  foldedList,
  formatDay,
  formatMinute,
  formatSecondUtc,
  type Item,
  namedLists,
  plural,
  type Tone,
} from "../../base/index.ts";
import type { ControlEvent, PlanControl } from "./control.ts";
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

const TONES: Readonly<Record<StageState, Tone>> = {
  planned: "plain",
  active: "warn",
  waiting: "warn",
  paused: "bad",
  over: "plain",
};

/** Creates the button that pauses or resumes a stage. @param stage null: all stages */
function stopButton({ pauses }: Pick<PlanStatus, "pauses">, stage: string | null): Button {
  const text = pauses.some((pause) => pause.stage === stage) ? "Resume" : "Pause";
  return {
    text: stage === null ? `${text} the plan` : text,
    action: text.toLowerCase(),
    ...(stage !== null && { given: { stage } }),
    done: `${text}d: ${stage ?? "all stages"}`,
  };
}

/** Creates the form that pauses or resumes all stages. */
export const stopForm = (status: PlanStatus): ActionForm => ({
  label: "Pause and resume",
  longestReason: 100,
  button: stopButton(status, null),
});

function stageItem(stage: StageStatus, status: PlanStatus): Item {
  const { name, state, from, until, blockedBy, routes, clients, field } = stage;
  const end = until === null ? "" : ` to ${formatMinute(until)}`;
  const when = from === null ? "" : ` ${formatMinute(from)}${end}`;
  const scope = [...routes, ...clients];
  return {
    line: [
      { tag: state, tone: TONES[state] },
      `${" ".repeat(8 - state.length)}${when.padEnd(37)} `,
      { strong: name },
      field === null ? "" : `  leaves out ${field}`,
      scope.length > 0 ? `  only ${scope.join(", ")}` : "",
      blockedBy.length > 0 ? `  waits for ${blockedBy.join(", ")}` : "",
    ],
    items: [],
    button: state === "over" ? undefined : stopButton(status, name),
  };
}

function pauseItem({ stage, by, at, reason }: PlanStatus["pauses"][number], status: PlanStatus): Item {
  const hasLine = stage === null || status.stages.some(({ name }) => name === stage);
  return {
    line: `paused: ${stage ?? "all stages"} by ${by} at ${formatSecondUtc(at)}${reason === null ? "" : `: ${reason}`}`,
    items: [],
    // A stage that was removed from the plan has no line.
    button: hasLine ? undefined : stopButton(status, stage),
  };
}

const eventLine = ({ action, stage, by, at }: ControlEvent): string =>
  `${action}: ${stage ?? "all stages"} by ${by} at ${formatSecondUtc(at)}`;

const dateLines = (dates: Readonly<Record<string, string>>, what: string): string[] =>
  Object.entries(dates).map(([name, date]) => `${what} ${name} until ${formatDay(date)}`);

const NOT_IN_FORCE =
  "It rejects no request: the state store could not be read yet, or the plan shortens a published date.";

/** Describes the status of a plan. */
export function planBlocks(status: PlanStatus): Block[] {
  const { announced, end, stages, pauses, allowed, clientEnds, events, inForce } = status;
  const ends = end === null ? "at no date yet" : formatDay(end);
  const lines = [
    ...(inForce ? [] : [NOT_IN_FORCE]),
    `announced ${formatDay(announced)}, ends ${ends} (times are UTC)`,
  ];
  const lists: [name: string, items: readonly Item[]][] = [
    ["Stages", stages.map((stage) => stageItem(stage, status))],
    [
      "Clients with days of their own",
      [...dateLines(allowed, "allowed:"), ...dateLines(clientEnds, "own end:")],
    ],
    ["Pauses", pauses.map((pause) => pauseItem(pause, status))],
  ];
  const blocks = [...lines.map((line): Block => ({ kind: "text", line })), ...namedLists(lists)];
  return [
    { kind: "section", as: "group", blocks },
    ...foldedList(`${plural(events.length, "change")} so far`, events.map(eventLine)),
  ];
}
