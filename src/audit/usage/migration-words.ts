/** The words and colours of the states of a migration: one list, for the console and the report. */
import { plural, type Tone } from "../../base/index.ts";
import type { MigrationState } from "./migration-state.ts";

/** The words for a state. */
interface StateWords {
  readonly label: string;
  readonly tone: Tone;
  /** The meaning, as a text that follows the name of a client. */
  readonly meaning: string;
}

/** The names of both APIs. */
interface Names {
  readonly client: string;
  readonly upstream: string;
}

/** The labels of states, and their tones. */
export const STATE_LABELS: Readonly<Record<MigrationState, Pick<StateWords, "label" | "tone">>> = {
  "not begun": { label: "not begun", tone: "bad" },
  moving: { label: "moving", tone: "warn" },
  ready: { label: "ready", tone: "good" },
  silent: { label: "silent: unknown", tone: "plain" },
};

/** Describes the states. @param quietDays Number of days without a request after which a client is quiet */
export function describeStates(
  { client, upstream }: Names,
  quietDays: number,
): Readonly<Record<MigrationState, StateWords>> {
  const days = plural(quietDays, "day");
  const meanings: Readonly<Record<MigrationState, string>> = {
    "not begun": `uses ${client} only`,
    moving: "uses both APIs",
    ready: `has called ${upstream} and not ${client} within the last ${days}, and has never paused for longer between ${client} calls`,
    silent: `has sent no request for ${days}: whether it has migrated is unknown`,
  };
  const wordsOfState = (state: MigrationState): StateWords => ({
    ...STATE_LABELS[state],
    meaning: meanings[state],
  });
  return {
    "not begun": wordsOfState("not begun"),
    moving: wordsOfState("moving"),
    ready: wordsOfState("ready"),
    silent: wordsOfState("silent"),
  };
}
