/** The state of a plan that all replicas share: pauses, and published dates. It is stored in the state store. */
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../../base/index.ts";
import { PLAN_DATES, type PlanDates } from "./plan-dates.ts";

/** A pause of all stages, or of one. */
const pause = z.object({
  /** Name of the stage; null: all stages. */
  stage: z.string().nullable(),
  /** The person who paused it, or `gateway` for storms of retries. */
  by: z.string(),
  at: z.iso.datetime(),
  reason: z.string().nullable(),
});
type Pause = z.output<typeof pause>;

/** A pause or a resumption of stages. */
const controlEvent = pause.extend({ action: z.enum(["pause", "resume"]) });
export type ControlEvent = z.output<typeof controlEvent>;

const controlState = z.object({
  pauses: z.array(pause).readonly(),
  /** The last events, newest first. */
  events: z.array(controlEvent).readonly(),
});
type ControlState = z.output<typeof controlState>;

/** The person, and the reason. */
export type Action = Omit<Pause, "at">;

const MAX_EVENTS = 50;

/** The state that replicas share. */
export type PlanControl = ReturnType<typeof createControl>;

/** Creates the access to the shared state. No data is read yet. @param clock milliseconds since the epoch */
export function createControl(store: DocumentStore, clock: () => number = Date.now) {
  const control = createSharedDocument<ControlState>(store, {
    key: "sunset:control",
    schema: controlState,
    empty: { pauses: [], events: [] },
  });
  const published = createSharedDocument<PlanDates | undefined>(store, {
    key: "sunset:published",
    schema: PLAN_DATES,
    empty: undefined,
  });

  const record = (
    { events }: ControlState,
    action: ControlEvent["action"],
    pause: Pause,
  ): readonly ControlEvent[] => [{ action, ...pause }, ...events].slice(0, MAX_EVENTS);

  const now = (): string => new Date(clock()).toISOString();

  return {
    /** Returns whether the store was read at least once. Before that, it is unknown whether the plan is paused. */
    isKnown: () => control.isKnown() && published.isKnown(),
    state: control.current,
    /** Returns the pause that applies to a stage: its own, or the pause of all stages. */
    pauseOf(stage: string): Pause | undefined {
      const { pauses } = control.current();
      return pauses.find((pause) => pause.stage === null) ?? pauses.find((pause) => pause.stage === stage);
    },
    /** Returns the published dates, if there are any. */
    published: published.current,
    /** Reads the store. If it fails, the last known state stays. @returns whether the published dates have changed */
    async refresh(): Promise<boolean> {
      const before = published.current();
      await Promise.all([published.refresh(), control.refresh()]);
      return published.current() !== before;
    },
    /** @throws {StateUnavailableError} */
    pause: (action: Action): Promise<void> =>
      control.change((before) => {
        const paused = { ...action, at: now() };
        // The first pause is kept.
        if (before.pauses.some(({ stage }) => stage === action.stage)) return before;
        return { pauses: [...before.pauses, paused], events: record(before, "pause", paused) };
      }),
    /** Ends the pause of a stage, or all pauses. @throws {StateUnavailableError} */
    resume: (action: Action): Promise<void> =>
      control.change((before) => {
        const pauses =
          action.stage === null ? [] : before.pauses.filter(({ stage }) => stage !== action.stage);
        if (pauses.length === before.pauses.length) return before;
        return { pauses, events: record(before, "resume", { ...action, at: now() }) };
      }),
    /** Stores the dates of a plan as published. @throws {StateUnavailableError} */
    publish: (next: PlanDates): Promise<void> => published.change(() => next),
  };
}
