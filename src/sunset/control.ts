/** What all replicas know of a plan: who paused it, and which dates were published. It is in the state store. */
import type { KeyValueStore } from "../storage/key-value-store.ts";
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
    controlText = text;
    state = text === undefined ? NOTHING : (JSON.parse(text) as ControlState);
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
      const [control, dates] = await Promise.all([store.get(CONTROL), store.get(PUBLISHED)]);
      if (control !== controlText) accept(control);
      isKnown = true;
      if (dates === publishedText) return false;
      publishedText = dates;
      published = dates === undefined ? undefined : (JSON.parse(dates) as PlanDates);
      return true;
    },
    pause: (action) =>
      change((before) => {
        const pause = { ...action, at: now() };
        // Who pressed first is remembered.
        if (before.pauses.some(({ stage }) => stage === action.stage)) return before;
        return { pauses: [...before.pauses, pause], events: record(before, "pause", pause) };
      }),
    resume: (action) =>
      change((before) => {
        const pauses =
          action.stage === null ? [] : before.pauses.filter(({ stage }) => stage !== action.stage);
        if (pauses.length === before.pauses.length) return before;
        return { pauses, events: record(before, "resume", { ...action, at: now() }) };
      }),
    async publish(dates) {
      const text = JSON.stringify(dates);
      if (text === publishedText) return;
      await store.set(PUBLISHED, text, TTL_SECONDS);
      publishedText = text;
      published = dates;
    },
  };
}
