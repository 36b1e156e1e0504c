/** The weekly wipe: each Sunday at 12:00 AM Eastern Time, daylight saving respected (document 2, What the service does). */

const hour = 3_600_000;
const day = 24 * hour;

const eastern = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  weekday: "short",
  hour: "2-digit",
  hourCycle: "h23",
});

/**
 * @param start When the data was seeded, in milliseconds.
 * @returns What is told the time before anything else looks at the data, and wipes it when it is due.
 */
export function createWeeklyWipe(start: number, wipe: () => void): (now: number) => void {
  let next = nextSundayMidnight(start);
  return function wipeWhenDue(now) {
    if (now < next) return;
    wipe();
    next = nextSundayMidnight(now);
  };
}

/** The next Sunday midnight after a time. It stands at 4:00 or 5:00 UTC, by the season. */
export function nextSundayMidnight(time: number): number {
  for (let date = Math.floor(time / day) * day; ; date += day) {
    for (const midnight of [date + 4 * hour, date + 5 * hour]) {
      const parts = eastern.formatToParts(midnight);
      const part = (type: string): string | undefined => parts.find((each) => each.type === type)?.value;
      if (midnight > time && part("weekday") === "Sun" && part("hour") === "00") return midnight;
    }
  }
}
