/** Compares the answers that clients get with those of the candidate: after they were sent, and within a budget. */
import { CLIENT_GONE, errorText, type Log, type Settings } from "../../base/index.ts";
import type { ClientDirectory } from "../../audit/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Compared, NotComparableReason, ReportComparison } from "../answers/comparison.ts";
import { createIsSameClient, provenBy } from "../../gateway/index.ts";
import { acceptDifferences } from "../answers/accepted.ts";
import { notComparable } from "../answers/judge.ts";
import type { Exchange } from "../answers/second-answer.ts";
import { isAccepted, type PlanRules, provenIdentity, type RouteMatch } from "../../gateway/index.ts";
import { createCandidateAnswer, type OtherPack } from "./candidate-answer.ts";
import { compareExchange, type OtherAnswers } from "./compare-exchange.ts";

/** Requests that wait to be compared, and their bytes: of bodies, v4's responses and answers. */
const MOST_WAITING = 100;
const MOST_BYTES = 16 * 1024 * 1024;
/** The part of both that one client may have. */
const CLIENT_SHARE = 0.25;

/** Part of the time that the process may be busy with requests while comparisons are made. */
const MOST_BUSY = 0.8;

export interface LiveComparisonOptions {
  /** The pack with which answers are compared, if one is. */
  readonly candidate: () => OtherPack | undefined;
  readonly directory: () => ClientDirectory;
  readonly plan: PlanRules;
  readonly report: ReportComparison;
  readonly log: Log;
}

/** Takes requests to compare. */
export interface LiveComparison {
  /** Takes a request once its response was sent. Never throws, and never waits. @param pack that answered it */
  offer(pack: Pack, exchange: Exchange): void;
  /** Forgets what waits. */
  stop(): void;
}

interface Waiting {
  readonly pack: Pack;
  readonly match: RouteMatch;
  readonly exchange: Exchange;
  readonly provenBy: string;
  readonly bytes: number;
}

/** All of an exchange that stays in memory because of it. */
function bytesOf({ context: { body, upstream }, outcome: { response } }: Exchange): number {
  let bytes = response.body.length + (body?.bytes.length ?? 0);
  for (const call of upstream?.calls ?? []) bytes += call.response?.bytes.length ?? 0;
  return bytes;
}

/**
 * The route of a request that can be compared: not one of a file, one that the gateway itself rejected, or one of somebody
 * whom v4 does not know: strangers must not fill the budget and the examples, and prove nothing.
 */
function routeToCompare({ context, outcome }: Exchange, { credentials }: Pack): RouteMatch | undefined {
  const { match, rejectedBy, isOwnPage } = context;
  if (!match || rejectedBy !== undefined || isOwnPage) return undefined;
  if (match.route.upload || match.route.file || outcome.response.file) return undefined;
  return credentials.client === undefined || isAccepted(context) ? match : undefined;
}

/** Why an answer can't be compared, whatever the candidate answers. */
function findObstacle({ context, outcome }: Exchange): NotComparableReason | undefined {
  if (outcome.status === CLIENT_GONE) return "client_gone";
  if (outcome.meaning === "limited") return "limited";
  if (outcome.meaning === "failed") return "failed";
  return context.match?.route.tokens ? "token" : undefined;
}

/** Creates the comparison with the candidate. */
export function createLiveComparison(
  settings: Settings,
  { candidate, directory, plan, report, log }: LiveComparisonOptions,
): LiveComparison {
  const prepared = new WeakMap<OtherPack, OtherAnswers>();
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let lastLoad = performance.eventLoopUtilization();
  let isRunning = false;

  function prepare(other: OtherPack): OtherAnswers {
    const found = prepared.get(other);
    if (found) return found;
    const created = {
      answer: createCandidateAnswer(settings, other, plan),
      acceptedBy: acceptDifferences(other.pack.acceptedDifferences),
    };
    prepared.set(other, created);
    return created;
  }

  function schedule(): void {
    if (isRunning || timer || waiting.length === 0) return;
    timer = setTimeout(() => void compareNext(), 1000 / settings.CANDIDATE_RATE).unref();
  }

  /** Whether requests need the time themselves: then what waits goes on waiting. */
  function isBusy(): boolean {
    const load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, lastLoad);
    lastLoad = load;
    return utilization > MOST_BUSY;
  }

  async function compareNext(): Promise<void> {
    timer = undefined;
    const other = candidate();
    if (!other) return stop();
    if (!isBusy()) {
      const next = waiting.shift();
      waitingBytes -= next?.bytes ?? 0;
      isRunning = true;
      if (next) await compare(next, other);
      isRunning = false;
    }
    schedule();
  }

  async function compare(next: Waiting, otherPack: OtherPack): Promise<void> {
    const { pack, match, exchange } = next;
    try {
      const finding = await compareExchange({ pack, route: match.route }, exchange, prepare(otherPack));
      report({ ...describe(next, otherPack.pack.hash), ...finding });
    } catch (error) {
      const { id: requestId } = exchange.request;
      log.error(
        { code: "AG_CANDIDATE_COMPARISON_FAILED", requestId, error: errorText(error) },
        "a request could not be compared with the candidate",
      );
    }
  }

  const reportNotComparable = (about: Waiting, hash: string, reason: NotComparableReason): void =>
    report({ ...describe(about, hash), ...notComparable(reason) });

  function describe(
    { pack, match, exchange: { request, context }, provenBy: by }: Waiting,
    hash: string,
  ): Omit<Compared, "result" | "key" | "differences"> {
    const identity = provenIdentity(request, context);
    return {
      source: "candidate",
      subject: `${pack.hash} ${hash}`,
      route: match.route.name,
      client: directory().nameOf(identity) ?? identity.application ?? identity.fingerprint ?? null,
      provenBy: by,
      time: context.time.getTime(),
      requestId: request.id,
    };
  }

  /** The proven owner of a request. Where clients have no credentials, the user agent is all that there is. */
  function provenByOf({ credentials }: Pack, { request, context }: Exchange): string {
    const identity = provenIdentity(request, context);
    const { userAgent } = credentials.client ? { userAgent: undefined } : identity;
    return provenBy(directory().nameOf({ ...identity, userAgent }), identity.fingerprint, request.address);
  }

  function hasRoom({ bytes, provenBy: by }: Waiting): boolean {
    const isSame = createIsSameClient(by);
    const own = waiting.filter((each) => isSame(each.provenBy));
    const ownBytes = own.reduce((sum, each) => sum + each.bytes, bytes);
    return (
      waiting.length < MOST_WAITING &&
      waitingBytes + bytes <= MOST_BYTES &&
      own.length < MOST_WAITING * CLIENT_SHARE &&
      ownBytes <= MOST_BYTES * CLIENT_SHARE
    );
  }

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
    waiting.length = 0;
    waitingBytes = 0;
  }

  return {
    offer(pack, exchange) {
      const other = settings.CANDIDATE_RATE > 0 ? candidate() : undefined;
      // Entries of catalogs that were never read would differ.
      if (!other || other.catalogs.missing().length > 0) return;
      const match = routeToCompare(exchange, pack);
      if (!match) return;
      const next = { pack, match, exchange, provenBy: provenByOf(pack, exchange), bytes: bytesOf(exchange) };
      const obstacle = findObstacle(exchange);
      const { hash } = other.pack;
      if (obstacle !== undefined) return reportNotComparable(next, hash, obstacle);
      if (!hasRoom(next)) return reportNotComparable(next, hash, "budget");
      waiting.push(next);
      waitingBytes += next.bytes;
      schedule();
    },
    stop,
  };
}
