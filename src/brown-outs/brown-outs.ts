import { Cron } from "croner";
import type { BrownOutWindow } from "./read-windows.ts";

/** Who asks for what. */
export interface BrownOutQuery {
  /** The fingerprint of its token; undefined without one. */
  readonly client: string | undefined;
  readonly route: string;
}

/** A window and when it is, or will next be, open. */
export interface BrownOutSchedule {
  readonly text: string;
  readonly routes: readonly string[];
  readonly clients: readonly string[];
  readonly open: boolean;
  /** Null for a window that never comes again. */
  readonly from: Date | null;
  readonly until: Date | null;
}

export interface BrownOuts {
  /** When the brown-out ends that a request falls into; undefined: it falls into none. */
  readonly isActive: (asking: BrownOutQuery) => Date | undefined;
  readonly schedules: () => readonly BrownOutSchedule[];
}

interface Span {
  readonly from: number;
  readonly until: number;
}

const NEVER: Span = { from: Infinity, until: Infinity };

/** The open span of a window, or else its next one; worked out once for each. */
function spans({ pattern, zone, lengthMs }: BrownOutWindow): (now: number) => Span {
  const cron = new Cron(pattern, { timezone: zone, mode: "5-part" });
  let cached: Span = { from: 0, until: 0 };
  let since = 0;
  return (now) => {
    // A clock that was set back invalidates the cached span.
    if (now >= since && now < cached.until) return cached;
    const start = cron.nextRun(new Date(now - lengthMs))?.getTime();
    cached = start === undefined ? NEVER : { from: start, until: start + lengthMs };
    since = now;
    return cached;
  };
}

const among = (list: readonly string[], name: string | undefined): boolean =>
  list.length === 0 || (name !== undefined && list.includes(name));

const dateOf = (moment: number): Date | null => (moment === Infinity ? null : new Date(moment));

/** @param clock Milliseconds since the epoch. */
export function scheduleBrownOuts(
  windows: readonly BrownOutWindow[],
  clock: () => number = Date.now,
): BrownOuts {
  const all = windows.map((window) => ({ window, span: spans(window) }));
  return {
    isActive({ client, route }) {
      const now = clock();
      const ends = all
        .filter(({ window }) => among(window.routes, route) && among(window.clients, client))
        .map(({ span }) => span(now))
        .filter(({ from }) => from <= now)
        .map(({ until }) => until);
      return ends.length === 0 ? undefined : new Date(Math.max(...ends));
    },
    schedules() {
      const now = clock();
      return all.map(({ window: { text, routes, clients }, span }) => {
        const { from, until } = span(now);
        return { text, routes, clients, open: from <= now, from: dateOf(from), until: dateOf(until) };
      });
    },
  };
}
