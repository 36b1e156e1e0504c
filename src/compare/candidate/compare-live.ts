/** Compares the responses that clients received with the candidate's responses, within a budget. */
import { CLIENT_GONE, errorText, type Log, type Settings } from "../../base/index.ts";
import type { ClientDirectory } from "../../audit/index.ts";
import type { Pack, Route } from "../../pack/index.ts";
import type { Exchange, NotComparableReason, ReportComparison } from "../answers/comparison.ts";
import { Budget } from "../answers/budget.ts";
import { notComparable } from "../answers/judge.ts";
import { isAccepted, partsOf, type PlanRules, provenIdentity } from "../../gateway/index.ts";
import {
  type CompareWithPack,
  createCandidateAnswer,
  createPackComparison,
  type MadeBy,
  type OtherPack,
  senderOf,
} from "./candidate-answer.ts";

/** Maximum share of the time that the process may be busy with requests while comparisons run. */
const MOST_BUSY = 0.8;

/** Limits for waiting requests, and for the bytes of their bodies, v4's responses and their own responses. */
const LIMITS = { comparisons: 100, memory: 16 * 1024 * 1024 };

interface LiveComparisonOptions {
  /** Returns the pack whose responses are compared, if there is one. */
  readonly candidate: () => OtherPack | undefined;
  readonly directory: () => ClientDirectory;
  readonly plan: PlanRules;
  readonly report: ReportComparison;
  readonly log: Log;
}

/**
 * Returns the route of a request that can be compared. Excluded are routes of files, requests that the gateway itself
 * rejected, and senders that v4 has not accepted: unauthenticated senders prove nothing, and must not fill the budget
 * and the examples.
 */
function routeToCompare({ context, outcome }: Exchange, { credentials }: Pack): Route | undefined {
  const { match, rejectedBy, isOwnPage } = context;
  if (!match || rejectedBy !== undefined || isOwnPage) return undefined;
  if (match.route.comparison.obstacle === "file" || outcome.response.file) return undefined;
  return credentials.client === undefined || isAccepted(context) ? match.route : undefined;
}

/** Returns why a response can't be compared with any response of the candidate. */
function findObstacle({ outcome }: Exchange): NotComparableReason | undefined {
  if (outcome.status === CLIENT_GONE) return "client_gone";
  return outcome.meaning === "limited" || outcome.meaning === "failed" ? outcome.meaning : undefined;
}

/** Returns the known facts about the comparison of a request before its result. */
const describe = (pack: Pack, route: Route, { request, context }: Exchange, directory: ClientDirectory) => ({
  route: route.name,
  ...senderOf(provenIdentity(request, context), request.address, pack, directory),
  time: context.time.getTime(),
  requestId: request.id,
});

/** Creates the check whether requests have used the time of the process since the last check. */
function createIsBusy(): () => boolean {
  let lastLoad = performance.eventLoopUtilization();
  return () => {
    const load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, lastLoad);
    lastLoad = load;
    return utilization > MOST_BUSY;
  };
}

/** A request that waits to be compared. */
interface Waiting {
  readonly made: MadeBy;
  readonly exchange: Exchange;
  readonly about: ReturnType<typeof describe>;
  /** The sender whose share of the waiting requests is used: a name, or a network, because any client can get many tokens. */
  readonly payer: string;
  readonly bytes: number;
}

/** Returns the size of all parts of an exchange that are kept in memory. */
function bytesOf({ context: { body, upstream }, outcome: { response } }: Exchange): number {
  let bytes = response.body.length + (body?.bytes.length ?? 0);
  for (const call of upstream?.calls ?? []) bytes += call.response?.bytes.length ?? 0;
  return bytes;
}

/** Waiting requests, the oldest first. */
class WaitingExchanges {
  readonly #waiting: Waiting[] = [];
  readonly #budget = new Budget(() => LIMITS);

  isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a request. @returns whether there was room for it */
  add(next: Waiting): boolean {
    const { payer, bytes } = next;
    if (!this.#budget.begin(payer)) return false;
    const hasMemory = this.#budget.hold(payer, bytes);
    if (hasMemory) this.#waiting.push(next);
    else this.#budget.end(payer, 0);
    return hasMemory;
  }

  /** Removes and returns the oldest request. */
  shift(): Waiting | undefined {
    const next = this.#waiting.shift();
    if (next) this.#budget.end(next.payer, next.bytes);
    return next;
  }
}

/** Creates the comparison with the candidate. */
export function createLiveComparison(
  settings: Settings,
  { candidate, directory, plan, report, log }: LiveComparisonOptions,
) {
  const isBusy = createIsBusy();
  const waiting = new WaitingExchanges();
  /** The comparison with the last candidate: candidates are rarely replaced. */
  let prepared: { readonly other: OtherPack; readonly compare: CompareWithPack } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;

  function schedule(): void {
    if (isRunning || timer || waiting.isEmpty()) return;
    timer = setTimeout(() => void compareNext(), 1000 / settings.CANDIDATE_RATE).unref();
  }

  async function compareNext(): Promise<void> {
    timer = undefined;
    const other = candidate();
    if (!other) return stop();
    // While requests need the time of the process, comparisons wait.
    if (!isBusy()) {
      isRunning = true;
      const next = waiting.shift();
      if (next) await compare(next, other);
      isRunning = false;
    }
    schedule();
  }

  const subjectOf = ({ made }: Waiting, { pack }: OtherPack): string => `${made.pack.hash} ${pack.hash}`;

  async function compare(next: Waiting, other: OtherPack): Promise<void> {
    const { made, exchange, about } = next;
    try {
      if (prepared?.other !== other) {
        const answer = createCandidateAnswer(settings, other, plan);
        prepared = { other, compare: createPackComparison(other.pack, answer) };
      }
      const finding = await prepared.compare(made, exchange);
      report({ ...about, subject: subjectOf(next, other), ...finding });
    } catch (error) {
      log.error(
        { code: "AG_CANDIDATE_COMPARISON_FAILED", requestId: about.requestId, error: errorText(error) },
        "a request could not be compared with the candidate",
      );
    }
  }

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
    while (waiting.shift());
  }

  return {
    /** Accepts a request after its response was sent. Never throws, and never waits. @param pack the pack of its response */
    offer(pack: Pack, exchange: Exchange): void {
      const other = settings.CANDIDATE_RATE > 0 ? candidate() : undefined;
      // Entries of catalogs that were never read would differ.
      if (!other || other.catalogs.missing().length > 0) return;
      const route = routeToCompare(exchange, pack);
      if (!route) return;
      const about = describe(pack, route, exchange, directory());
      const payer = partsOf(about.provenBy).at(-1) ?? "";
      const next = { made: { pack, route }, exchange, about, payer, bytes: bytesOf(exchange) };
      const obstacle = findObstacle(exchange) ?? (waiting.add(next) ? undefined : "budget");
      if (obstacle === undefined) return schedule();
      const subject = subjectOf(next, other);
      report({ ...about, source: "candidate", subject, ...notComparable(obstacle) });
    },
    /** Drops the waiting comparisons. */
    stop,
  };
}
