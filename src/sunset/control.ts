/** What all replicas know of a plan: who paused it, and which dates were published. It is in the state store. */
import { z } from "zod";
import { StateUnavailableError, type KeyValueStore } from "../storage/key-value-store.ts";
import type { PlanDates } from "./plan-dates.ts";

/** A stop of all stages, or of one. */
export interface Pause {
  /** Name of the stage; null: all of them. */
  readonly stage: string | null;
  /** Who pressed the button; `gateway`: a storm of retries. */
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

/** Who does something, and why. */
export type Action = Pick<Pause, "stage" | "by" | "reason">;

/** The state that replicas share. */
export interface SunsetControl {
  /** Whether the store was read once: before, nobody knows whether the plan is paused. */
  readonly isKnown: () => boolean;
  readonly state: () => ControlState;
  /** The pause of a stage: its own, or that of all. */
  pauseOf(stage: string): Pause | undefined;
  /** The dates that were published; undefined: none. */
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

/** The store has no values without an end. A plan takes less than twenty years. */
const TTL_SECONDS = 20 * 365 * 86_400;

const MAX_EVENTS = 50;
/** Writes that lose against those of other replicas, before one is given up. */
const ATTEMPTS = 10;

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

const dated = z.array(
  z.object({ routes: z.array(z.string()), clients: z.array(z.string()), date: z.number() }),
);
const dates = z.record(z.string(), z.number());
const publishedSchema: z.ZodType<PlanDates> = z.object({
  end: z.number().nullable(),
  ends: dated,
  freezes: dated,
  allowed: dates,
  clientEnds: dates,
  windows: dates,
});

/** Reads what is stored under a key. @throws {StateUnavailableError} if it is damaged */
function readStored<T>(schema: z.ZodType<T>, key: string, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new StateUnavailableError(`What is stored under ${key} is damaged.`);
  }
}

/** Creates the access to the shared state. Nothing is read yet. @param clock Milliseconds since the epoch */
export function createControl(
  store: Pick<KeyValueStore, "get" | "set" | "setIfAbsent" | "replace">,
  clock: () => number = Date.now,
): SunsetControl {
  let isKnown = false;
  let controlText: string | undefined;
  let state = NOTHING;
  let publishedText: string | undefined;
  let published: PlanDates | undefined;

  function accept(text: string | undefined): void {
    state = text === undefined ? NOTHING : readStored(controlSchema, CONTROL, text);
    controlText = text;
  }

  /** Changes the state, also if other replicas change it at the same time. */
  async function change(apply: (state: ControlState) => ControlState): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      accept(await store.get(CONTROL));
      const next = JSON.stringify(apply(state));
      const isWritten =
        controlText === undefined
          ? await store.setIfAbsent(CONTROL, next, TTL_SECONDS)
          : await store.replace(CONTROL, controlText, next, TTL_SECONDS);
      if (isWritten) return accept(next);
    }
    throw new Error("The state of the plan changes all the time.");
  }

  const record = (
    { events }: ControlState,
    action: ControlEvent["action"],
    pause: Pause,
  ): readonly ControlEvent[] => [{ action, ...pause }, ...events].slice(0, MAX_EVENTS);

  const now = (): string => new Date(clock()).toISOString();

  return {
    isKnown: () => isKnown,
    state: () => state,
    pauseOf: (stage) =>
      state.pauses.find((pause) => pause.stage === null) ??
      state.pauses.find((pause) => pause.stage === stage),
    published: () => published,
    async refresh() {
      const [control, text] = await Promise.all([store.get(CONTROL), store.get(PUBLISHED)]);
      if (control !== controlText) accept(control);
      isKnown = true;
      if (text === publishedText) return false;
      published = text === undefined ? undefined : readStored(publishedSchema, PUBLISHED, text);
      publishedText = text;
      return true;
    },
    pause: (action) =>
      change((before) => {
        const paused = { ...action, at: now() };
        // Who pressed first is remembered.
        if (before.pauses.some(({ stage }) => stage === action.stage)) return before;
        return { pauses: [...before.pauses, paused], events: record(before, "pause", paused) };
      }),
    resume: (action) =>
      change((before) => {
        const pauses =
          action.stage === null ? [] : before.pauses.filter(({ stage }) => stage !== action.stage);
        if (pauses.length === before.pauses.length) return before;
        return { pauses, events: record(before, "resume", { ...action, at: now() }) };
      }),
    async publish(next) {
      const text = JSON.stringify(next);
      if (text === publishedText) return;
      await store.set(PUBLISHED, text, TTL_SECONDS);
      publishedText = text;
      published = next;
    },
  };
}
