/** A plan in the form for people: stages, exceptions for clients, and pauses. */
import {
  type ActionForm,
  type Block,
  type Button,
  foldedList,
  formatDay,
  formatMinute,
  type Item,
  type Line,
  namedLists,
  plural,
  type Tone,
} from "../../base/index.ts";
import type { ControlEvent } from "./control.ts";
import type { PlanStatus, StageState, StageStatus } from "./describe-plan.ts";

const TONES: Readonly<Record<StageState, Tone>> = {
  planned: "plain",
  active: "warn",
  waiting: "warn",
  paused: "bad",
  over: "plain",
};

/** Creates the button that pauses or resumes a stage. @param stage null: all stages */
function stopButton({ pauses }: Pick<PlanStatus, "pauses">, stage: string | null): Button {
  const isPaused = pauses.some((pause) => pause.stage === stage);
  const text = isPaused ? "Resume" : "Pause";
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

function describeStage(
  { name, state, from, until, blockedBy, routes, clients, field }: StageStatus,
  status: PlanStatus,
): Item {
  const end = until === null ? "" : ` to ${formatMinute(until)}`;
  const when = from === null ? "" : ` ${formatMinute(from)}${end}`;
  const scope = [...routes, ...clients];
  const line: Line = [
    { tag: state, tone: TONES[state] },
    `${" ".repeat(8 - state.length)}${when.padEnd(37)} `,
    { strong: name },
    field === null ? "" : `  leaves out ${field}`,
    scope.length > 0 ? `  only ${scope.join(", ")}` : "",
    blockedBy.length > 0 ? `  waits for ${blockedBy.join(", ")}` : "",
  ];
  return { line, items: [], button: state === "over" ? undefined : stopButton(status, name) };
}

const eventLine = ({ action, stage, by, at }: ControlEvent): string =>
  `${action}: ${stage ?? "all stages"} by ${by} at ${at}`;

/** Describes the status of a plan. */
export function planBlocks(status: PlanStatus): Block[] {
  const { announced, end, stages, pauses, allowed, clientEnds, events, inForce } = status;
  const dated = (dates: Readonly<Record<string, string>>, what: string): string[] =>
    Object.entries(dates).map(([name, date]) => `${what} ${name} until ${formatDay(date)}`);
  const ends = end === null ? "at no date yet" : formatDay(end);
  const lists: [name: string, items: readonly Item[]][] = [
    ["Stages", stages.map((stage) => describeStage(stage, status))],
    ["Clients with days of their own", [...dated(allowed, "allowed:"), ...dated(clientEnds, "own end:")]],
    [
      "Pauses",
      pauses.map(({ stage, by, at, reason }) => ({
        line: `paused: ${stage ?? "all stages"} by ${by} at ${at}${reason === null ? "" : `: ${reason}`}`,
        items: [],
        // A stage that was removed from the plan has no line.
        button:
          stage === null || stages.some(({ name }) => name === stage) ? undefined : stopButton(status, stage),
      })),
    ],
  ];
  const text = (line: string): Block => ({ kind: "text", line });
  return [
    {
      kind: "section",
      as: "group",
      blocks: [
        ...(inForce
          ? []
          : [
              text(
                "It rejects no request: the state store could not be read yet, or the plan shortens a published date.",
              ),
            ]),
        text(`announced ${formatDay(announced)}, ends ${ends} (times are UTC)`),
        ...namedLists(lists),
      ],
    },
    ...foldedList(`${plural(events.length, "change")} so far`, events.map(eventLine)),
  ];
}
