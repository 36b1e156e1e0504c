/** How the old service does: whether it is well enough to return to, and how often it fails anyway. */

/** What is known of the old service. It is this process's own experience. */
export interface OldServiceHealth {
  /** Notes an answer of the old service, or that there was none. @param route Name of the route; null: none of the pack */
  note(route: string | null, hasFailed: boolean): void;
  /** Whether it answered within the last 30 s, and less than a tenth of its answers were failures. */
  isWell(): boolean;
  /** The share of its answers on a route that are failures; of all its answers where there are too few; 0 if nobody knows. */
  failureRate(route: string): number;
}

const WINDOW_SECONDS = 30;
/** Failures of this share and above: it is not well. */
const UNWELL = 0.1;

/** Answers after which older ones count half. */
const MAX_ANSWERS = 10_000;
/** Fewer answers say nothing about a rate. */
const MIN_ANSWERS = 100;
/** More routes than a pack has. */
const MAX_ROUTES = 2000;

interface Answers {
  total: number;
  failed: number;
}

const addTo = (answers: Answers, hasFailed: boolean): void => {
  if (answers.total >= MAX_ANSWERS) {
    answers.total /= 2;
    answers.failed /= 2;
  }
  answers.total += 1;
  if (hasFailed) answers.failed += 1;
};

/** @param clock Milliseconds, monotonic. */
export function watchOldService(clock: () => number = () => performance.now()): OldServiceHealth {
  /** One entry for each second of the window. */
  const seconds = Array.from({ length: WINDOW_SECONDS }, () => ({ second: -1, total: 0, failed: 0 }));
  const all: Answers = { total: 0, failed: 0 };
  const byRoute = new Map<string, Answers>();

  function answersOf(route: string): Answers | undefined {
    const found = byRoute.get(route);
    if (found || byRoute.size >= MAX_ROUTES) return found;
    const created = { total: 0, failed: 0 };
    byRoute.set(route, created);
    return created;
  }

  const secondNow = (): number => Math.floor(clock() / 1000);

  return {
    note(route, hasFailed) {
      const second = secondNow();
      const entry = seconds[second % WINDOW_SECONDS];
      if (!entry) return;
      if (entry.second !== second) Object.assign(entry, { second, total: 0, failed: 0 });
      entry.total += 1;
      if (hasFailed) entry.failed += 1;
      addTo(all, hasFailed);
      const answers = route === null ? undefined : answersOf(route);
      if (answers) addTo(answers, hasFailed);
    },
    isWell() {
      const oldest = secondNow() - WINDOW_SECONDS;
      const recent = seconds.filter(({ second }) => second > oldest);
      const total = recent.reduce((sum, entry) => sum + entry.total, 0);
      const failed = recent.reduce((sum, entry) => sum + entry.failed, 0);
      return total > 0 && failed < total * UNWELL;
    },
    failureRate(route) {
      const answers = byRoute.get(route);
      const { total, failed } = answers && answers.total >= MIN_ANSWERS ? answers : all;
      return total < MIN_ANSWERS ? 0 : failed / total;
    },
  };
}
