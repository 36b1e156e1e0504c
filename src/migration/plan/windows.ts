/** The windows of a stage: when each begins and ends. */
import { Cron } from "croner";
import { errorText } from "../../base/index.ts";

/** When windows begin, and how long each lasts. */
export interface WindowRule {
  /** Cron's five fields. */
  readonly pattern: string;
  /** Time zone of the pattern and of the days. */
  readonly zone: string;
  readonly lengthMs: number;
  /** Day of the first window, `YYYY-MM-DD`. */
  readonly from: string;
  /** Day before which the last window begins; undefined: no last one. */
  readonly until: string | undefined;
}

/** One window. Milliseconds since the epoch; `until` is excluded. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

const NEVER: Window = { from: Infinity, until: Infinity };

/** Longest window: a client that fails for a day and more is not tested, it is cut off. */
export const MAX_WINDOW_MS = 24 * 3_600_000;

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 };

/** The milliseconds of a length such as `15m` or `4h`. */
export const lengthOf = (text: string): number => Number.parseInt(text, 10) * (UNITS[text.at(-1) ?? ""] ?? 0);

const cronOf = ({ pattern, zone, from, until }: Omit<WindowRule, "lengthMs">): Cron =>
  new Cron(pattern, {
    timezone: zone,
    mode: "5-part",
    startAt: `${from}T00:00:00`,
    ...(until !== undefined && { stopAt: `${until}T00:00:00` }),
  });

/** The library's words about a pattern or a zone that it can't use; undefined if it can. */
export function patternProblem(rule: Omit<WindowRule, "lengthMs">): string | undefined {
  try {
    cronOf(rule).nextRun(new Date(0));
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** Finds the open window at a time, or else the next one. Each is worked out once. */
export type FindWindow = (time: number) => Window;

/** Creates the function that finds windows. A process that starts within a window finds it too. */
export function createWindows(rule: WindowRule): FindWindow {
  const cron = cronOf(rule);
  let cached: Window = { from: 0, until: 0 };
  let since = 0;
  return (time) => {
    // A clock that was set back invalidates the cached window.
    if (time >= since && time < cached.until) return cached;
    const start = cron.nextRun(new Date(time - rule.lengthMs))?.getTime();
    cached = start === undefined ? NEVER : { from: start, until: start + rule.lengthMs };
    since = time;
    return cached;
  };
}
