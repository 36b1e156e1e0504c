/** The state of a plan that all replicas share: who paused it, and which dates were published. It is in the state store. */
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../../base/index.ts";
import type { PlanDates } from "./plan-dates.ts";

/** A stop of all stages, or of one. */
export interface Pause {
  /** Name of the stage; null: all of them. */
  readonly stage: string | null;
  /** The person who pressed the button; `gateway`: storms of retries. */
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly reason: string | null;
}

/** Somebody paused or resumed stages. */
export interface ControlEvent extends Pause {
  readonly action: "pause" | "resume";
}

interface ControlState {
  readonly pauses: readonly Pause[];
  /** The last events, newest first. */
  readonly events: readonly ControlEvent[];
}

/** The person who acts, and the reason. */
export type Action = Pick<Pause, "stage" | "by" | "reason">;

/** The state that replicas share. */
export interface PlanControl {
  /** Whether the store was read once: before, nobody knows whether the plan is paused. */
  readonly isKnown: () => boolean;
  readonly state: () => ControlState;
  /** The pause of a stage: its own, or that of all. */
  pauseOf(stage: string): Pause | undefined;
  /** The dates that were published, if some were. */
  readonly published: () => PlanDates | undefined;
  /** Reads the store. If it fails, what was read before stays. @returns Whether the published dates have changed. */
  refresh(): Promise<boolean>;
  /** @throws {StateUnavailableError} */
  pause(action: Action): Promise<void>;
  /** Ends the pause of a stage, or all pauses. @throws {StateUnavailableError} */
  resume(action: Action): Promise<void>;
  /** Remembers the dates of a plan. @throws {StateUnavailableError} */
  publish(dates: PlanDates): Promise<void>;
}

const CONTROL = "sunset:control";
const PUBLISHED = "sunset:published";

const MAX_EVENTS = 50;

const NOTHING: ControlState = { pauses: [], events: [] };

const pause = z.object({
  stage: z.string().nullable(),
  by: z.string(),
  at: z.iso.datetime(),
  reason: z.string().nullable(),
});
const controlSchema: z.ZodType<ControlState> = z.object({
  pauses: z.array(pause),
  events: z.array(pause.extend({ action: z.enum(["pause", "resume"]) })),
});

const datedScope = z.object({
  routes: z.array(z.string()),
  clients: z.array(z.string()),
  date: z.number(),
});
const dates = z.record(z.string(), z.number());
const publishedSchema: z.ZodType<PlanDates | undefined> = z.object({
  end: z.number().nullable(),
  ends: z.array(datedScope),
  freezes: z.array(datedScope),
  allowed: dates,
  clientEnds: dates,
  // Older versions have stored their windows in another form.
  windowStages: z
    .array(
      datedScope.extend({
        stage: z.string(),
        field: z.string().nullable(),
        until: z.number().nullable(),
      }),
    )
    .default([]),
});

/** Creates the access to the shared state. Nothing is read yet. @param clock Milliseconds since the epoch */
export function createControl(store: DocumentStore, clock: () => number = Date.now): PlanControl {
  const control = createSharedDocument(store, { key: CONTROL, schema: controlSchema, empty: NOTHING });
  const published = createSharedDocument<PlanDates | undefined>(store, {
    key: PUBLISHED,
    schema: publishedSchema,
    empty: undefined,
  });

  const record = (
    { events }: ControlState,
    action: ControlEvent["action"],
    pause: Pause,
  ): readonly ControlEvent[] => [{ action, ...pause }, ...events].slice(0, MAX_EVENTS);

  const now = (): string => new Date(clock()).toISOString();

  return {
    isKnown: () => control.isKnown() && published.isKnown(),
    state: control.current,
    pauseOf(stage) {
      const { pauses } = control.current();
      return pauses.find((pause) => pause.stage === null) ?? pauses.find((pause) => pause.stage === stage);
    },
    published: published.current,
    async refresh() {
      const before = published.current();
      await Promise.all([published.refresh(), control.refresh()]);
      return published.current() !== before;
    },
    pause: (action) =>
      control.change((before) => {
        const paused = { ...action, at: now() };
        // The first pause is remembered.
        if (before.pauses.some(({ stage }) => stage === action.stage)) return before;
        return { pauses: [...before.pauses, paused], events: record(before, "pause", paused) };
      }),
    resume: (action) =>
      control.change((before) => {
        const pauses =
          action.stage === null ? [] : before.pauses.filter(({ stage }) => stage !== action.stage);
        if (pauses.length === before.pauses.length) return before;
        return { pauses, events: record(before, "resume", { ...action, at: now() }) };
      }),
    publish: (next) => published.change(() => next),
  };
}
