/** Compares the answers that clients get with those of the candidate: after they were sent, and within a budget. */
import { CLIENT_GONE, errorText, type Log, type Settings } from "../../base/index.ts";
import type { ClientDirectory } from "../../audit/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Compared, NotComparableReason, ReportComparison } from "../answers/comparison.ts";
import { acceptDifferences, notComparable } from "../answers/judge.ts";
import type { Exchange } from "../answers/second-answer.ts";
import {
  createIsSameClient,
  isAccepted,
  type PlanRules,
  provenBy,
  provenIdentity,
  type RouteMatch,
} from "../../gateway/index.ts";
import {
  compareExchange,
  createCandidateAnswer,
  type OtherAnswers,
  type OtherPack,
} from "./candidate-answer.ts";

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

/** The proven owner of a request. Where clients have no credentials, the user agent is all that there is. */
function provenByOf(
  { credentials }: Pack,
  { request, context }: Exchange,
  directory: ClientDirectory,
): string {
  const identity = provenIdentity(request, context);
  const { userAgent } = credentials.client ? { userAgent: undefined } : identity;
  return provenBy(directory.nameOf({ ...identity, userAgent }), identity.fingerprint, request.address);
}

/** What is known about a comparison before its result. @param hash of the candidate */
function describe(
  { pack, match, exchange: { request, context }, provenBy: by }: Waiting,
  hash: string,
  directory: ClientDirectory,
): Omit<Compared, "result" | "key" | "differences"> {
  const identity = provenIdentity(request, context);
  return {
    source: "candidate",
    subject: `${pack.hash} ${hash}`,
    route: match.route.name,
    client: directory.nameOf(identity) ?? identity.application ?? identity.fingerprint ?? null,
    provenBy: by,
    time: context.time.getTime(),
    requestId: request.id,
  };
}

/** Creates what finds whether requests need the time of the process themselves, since it was asked before. */
function createIsBusy(): () => boolean {
  let lastLoad = performance.eventLoopUtilization();
  return () => {
    const load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, lastLoad);
    lastLoad = load;
    return utilization > MOST_BUSY;
  };
}

/** Creates what prepares packs to answer in place of another one, each of them once. */
function createPrepare(settings: Settings, plan: PlanRules): (other: OtherPack) => OtherAnswers {
  const prepared = new WeakMap<OtherPack, OtherAnswers>();
  return (other) => {
    const found = prepared.get(other);
    if (found) return found;
    const created = {
      answer: createCandidateAnswer(settings, other, plan),
      acceptedBy: acceptDifferences(other.pack.acceptedDifferences),
    };
    prepared.set(other, created);
    return created;
  };
}

/** Creates the comparison with the candidate. */
export function createLiveComparison(
  settings: Settings,
  { candidate, directory, plan, report, log }: LiveComparisonOptions,
): LiveComparison {
  const prepare = createPrepare(settings, plan);
  const isBusy = createIsBusy();
  const waiting = new WaitingExchanges();
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
    // While requests need the time, what waits goes on waiting.
    if (!isBusy()) {
      const next = waiting.shift();
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
      report({ ...describe(next, otherPack.pack.hash, directory()), ...finding });
    } catch (error) {
      const { id: requestId } = exchange.request;
      log.error(
        { code: "AG_CANDIDATE_COMPARISON_FAILED", requestId, error: errorText(error) },
        "a request could not be compared with the candidate",
      );
    }
  }

  const reportNotComparable = (about: Waiting, hash: string, reason: NotComparableReason): void =>
    report({ ...describe(about, hash, directory()), ...notComparable(reason) });

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
    waiting.clear();
  }

  return {
    offer(pack, exchange) {
      const other = settings.CANDIDATE_RATE > 0 ? candidate() : undefined;
      // Entries of catalogs that were never read would differ.
      if (!other || other.catalogs.missing().length > 0) return;
      const match = routeToCompare(exchange, pack);
      if (!match) return;
      const next = {
        pack,
        match,
        exchange,
        provenBy: provenByOf(pack, exchange, directory()),
        bytes: bytesOf(exchange),
      };
      const obstacle = findObstacle(exchange);
      const { hash } = other.pack;
      if (obstacle !== undefined) return reportNotComparable(next, hash, obstacle);
      if (!waiting.add(next)) return reportNotComparable(next, hash, "budget");
      schedule();
    },
    stop,
  };
}

/** The requests that may wait, and their bytes: of bodies, v4's responses and answers. */
const MOST_WAITING = 100;
const MOST_BYTES = 16 * 1024 * 1024;
/** The part of both that one client may have. */
const CLIENT_SHARE = 0.25;

/** A request that waits to be compared. */
export interface Waiting {
  readonly pack: Pack;
  readonly match: RouteMatch;
  readonly exchange: Exchange;
  readonly provenBy: string;
  readonly bytes: number;
}

/** All of an exchange that stays in memory because of it. */
export function bytesOf({ context: { body, upstream }, outcome: { response } }: Exchange): number {
  let bytes = response.body.length + (body?.bytes.length ?? 0);
  for (const call of upstream?.calls ?? []) bytes += call.response?.bytes.length ?? 0;
  return bytes;
}

/** Requests that wait, the oldest first. */
export class WaitingExchanges {
  readonly #waiting: Waiting[] = [];
  #bytes = 0;

  isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a request. @returns whether there was room for it */
  add(next: Waiting): boolean {
    if (!this.#hasRoom(next)) return false;
    this.#waiting.push(next);
    this.#bytes += next.bytes;
    return true;
  }

  /** Takes out the oldest one. */
  shift(): Waiting | undefined {
    const next = this.#waiting.shift();
    this.#bytes -= next?.bytes ?? 0;
    return next;
  }

  clear(): void {
    this.#waiting.length = 0;
    this.#bytes = 0;
  }

  #hasRoom({ bytes, provenBy }: Waiting): boolean {
    const isSame = createIsSameClient(provenBy);
    const own = this.#waiting.filter((each) => isSame(each.provenBy));
    const ownBytes = own.reduce((sum, each) => sum + each.bytes, bytes);
    return (
      this.#waiting.length < MOST_WAITING &&
      this.#bytes + bytes <= MOST_BYTES &&
      own.length < MOST_WAITING * CLIENT_SHARE &&
      ownBytes <= MOST_BYTES * CLIENT_SHARE
    );
  }
}
