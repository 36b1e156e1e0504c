/** How the old service does: whether it is well enough to return to, and how often it fails anyway. */

/** What is known of the old service. It is this process's own experience. */
export interface OldServiceHealth {
  /**
   * Notes an answer of the old service, or that there was none.
   *
   * @param route Name of the route; null: none of the pack
   * @param sender Who asked, by what nobody can invent
   */
  note(route: string | null, hasFailed: boolean, sender: string): void;
  /**
   * Whether it answered on a route within the last 30 s, and less than a tenth of its answers were failures. Each sender counts
   * once, and the one that saw most failures does not count where there are others. Where nobody asked on the route, all
   * routes count.
   */
  isWell(route: string): boolean;
  /** The share of its answers on a route that are failures; of all its answers where there are too few; 0 if nobody knows. */
  failureRate(route: string): number;
}

const WINDOW_SECONDS = 30;
/** Failures of this share and above: it is not well. */
const UNWELL = 0.1;
/** Senders of one second and route. More say nothing new. */
const MAX_SENDERS = 200;

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

/** The answers of one route, or of all. */
class RouteAnswers implements Answers {
  total = 0;
  failed = 0;
  /** Those of the last 30 s, by second and sender. */
  readonly #recent = new Map<number, Map<string, Answers>>();

  note(second: number, sender: string, hasFailed: boolean): void {
    addTo(this, hasFailed);
    this.#forgetBefore(second);
    const senders = this.#recent.get(second) ?? new Map<string, Answers>();
    this.#recent.set(second, senders);
    const answers = senders.get(sender) ?? { total: 0, failed: 0 };
    if (senders.size < MAX_SENDERS) senders.set(sender, answers);
    addTo(answers, hasFailed);
  }

  /** Whether it is well by these answers; undefined without recent ones. */
  isWell(second: number): boolean | undefined {
    this.#forgetBefore(second);
    const bySender = new Map<string, Answers>();
    for (const senders of this.#recent.values())
      for (const [sender, { total, failed }] of senders) {
        const sum = bySender.get(sender) ?? { total: 0, failed: 0 };
        bySender.set(sender, { total: sum.total + total, failed: sum.failed + failed });
      }
    const rates = [...bySender.values()].map(({ total, failed }) => failed / total);
    if (rates.length === 0) return undefined;
    const sum = rates.reduce((all, rate) => all + rate, 0);
    return rates.length === 1 ? sum < UNWELL : sum - Math.max(...rates) < UNWELL * (rates.length - 1);
  }

  #forgetBefore(second: number): void {
    for (const each of this.#recent.keys()) {
      if (each > second - WINDOW_SECONDS) return;
      this.#recent.delete(each);
    }
  }
}

/** @param clock Milliseconds, monotonic. */
export function watchOldService(clock: () => number = () => performance.now()): OldServiceHealth {
  const all = new RouteAnswers();
  const byRoute = new Map<string, RouteAnswers>();

  function answersOf(route: string): RouteAnswers | undefined {
    const found = byRoute.get(route);
    if (found || byRoute.size >= MAX_ROUTES) return found;
    const created = new RouteAnswers();
    byRoute.set(route, created);
    return created;
  }

  const secondNow = (): number => Math.floor(clock() / 1000);

  return {
    note(route, hasFailed, sender) {
      const second = secondNow();
      all.note(second, sender, hasFailed);
      if (route !== null) answersOf(route)?.note(second, sender, hasFailed);
    },
    isWell(route) {
      const second = secondNow();
      return byRoute.get(route)?.isWell(second) ?? all.isWell(second) ?? false;
    },
    failureRate(route) {
      const answers = byRoute.get(route);
      const { total, failed } = answers && answers.total >= MIN_ANSWERS ? answers : all;
      return total < MIN_ANSWERS ? 0 : failed / total;
    },
  };
}
