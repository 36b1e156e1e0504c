/** Logs returns and their ends, regardless of the replica or command that caused them. */
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../../base/index.ts";
import type { RolloutEvent, Trip, TripTarget } from "./returns/trips.ts";

const textOf = ({ kind, name }: TripTarget): string => `${kind} ${name}`;

/** Returns the events since the last call, the oldest first. */
function newEvents(events: readonly RolloutEvent[], last: RolloutEvent | undefined): RolloutEvent[] {
  const at = events.findIndex((event) => isDeepStrictEqual(event, last));
  return events.slice(0, at < 0 ? undefined : at).toReversed();
}

/** Creates the log of one process. At its start, it logs the current returns, but no earlier events. */
export function createChangeLog(log: Log) {
  /** Trips that were already logged. */
  const logged = new Set<string>();
  /** The last logged event; null before the first call. */
  let last: RolloutEvent | undefined | null = null;

  function logTrip(trip: Trip): void {
    const { kind, name, by, reason, records } = trip;
    if (logged.has(textOf(trip))) return;
    logged.add(textOf(trip));
    log.error(
      { code: "AG_ROLLOUT_TURNED_BACK", kind, name, by, reason, records },
      "the old service serves this again, until a person resumes it",
    );
  }

  /** Logs new events. Call this whenever the trips change. @param events The last events, newest first */
  return (trips: readonly Trip[], events: readonly RolloutEvent[]): void => {
    for (const event of last === null ? [] : newEvents(events, last)) {
      const { action, kind, name, by, reason } = event;
      if (action !== "resume") continue;
      logged.delete(textOf(event));
      log.info({ kind, name, by, reason }, "this was resumed: it is served as ROLLOUT_FILE says again");
    }
    last = events[0];
    for (const trip of trips) logTrip(trip);
  };
}
