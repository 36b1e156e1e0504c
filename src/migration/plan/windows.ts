/** The times of a stage's brown-outs. */
import { Cron } from "croner";
import { errorText } from "../../base/index.ts";

/** The rule for the start and the length of brown-outs. */
export interface WindowRule {
  /** A cron pattern with five fields. */
  readonly pattern: string;
  /** Time zone of the pattern and of the days. */
  readonly zone: string;
  readonly lengthMs: number;
  /** Day of the first brown-out, `YYYY-MM-DD`. */
  readonly from: string;
  /** Day before which the last brown-out starts; undefined: there is no last one. */
  readonly until: string | undefined;
}

/** The times of one brown-out. Milliseconds since the epoch; `until` is exclusive. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

const NEVER: Window = { from: Infinity, until: Infinity };

/** Maximum length of a brown-out in milliseconds: a client that fails for more than a day is not tested, but cut off. */
export const MAX_WINDOW_MS = 24 * 3_600_000;

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of a length such as `15m` or `4h`. */
export const lengthOf = (text: string): number => Number.parseInt(text, 10) * (UNITS[text.at(-1) ?? ""] ?? 0);

const cronOf = ({ pattern, zone, from, until }: Omit<WindowRule, "lengthMs">): Cron =>
  new Cron(pattern, {
    timezone: zone,
    mode: "5-part",
    startAt: `${from}T00:00:00`,
    ...(until !== undefined && { stopAt: `${until}T00:00:00` }),
  });

/** Returns the library's message about an invalid pattern or time zone; undefined if both are valid. */
export function patternProblem(rule: Omit<WindowRule, "lengthMs">): string | undefined {
  try {
    cronOf(rule).nextRun(new Date(0));
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** Finds the open brown-out at a time, otherwise the next one. Each is computed once. */
export type FindWindow = (time: number) => Window;

/** Creates the function that finds brown-outs. A process that starts during a brown-out finds it as well. */
export function createWindows(rule: WindowRule): FindWindow {
  const cron = cronOf(rule);
  let cached: Window = { from: 0, until: 0 };
  let since = 0;
  return (time) => {
    // A clock that was set back invalidates the cached brown-out.
    if (time >= since && time < cached.until) return cached;
    const start = cron.nextRun(new Date(time - rule.lengthMs))?.getTime();
    cached = start === undefined ? NEVER : { from: start, until: start + rule.lengthMs };
    since = time;
    return cached;
  };
}
