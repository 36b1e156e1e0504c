/** Compares the answers that clients get with those of the candidate: after they were sent, and within a budget. */
import type { ClientDirectory } from "../../clients/client-directory.ts";
import { errorText } from "../../config/error-text.ts";
import type { Settings } from "../../config/setting-definitions.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Log } from "../../observability/log.ts";
import { compareAnswers, createAnswerRules } from "../../parity/compare-answers.ts";
import type {
  Answer,
  Compared,
  ComparedSample,
  Difference,
  NotComparableReason,
  ReportComparison,
} from "../../parity/comparison.ts";
import { distinctKey } from "../../parity/distinct-key.ts";
import { VolatileFields } from "../../parity/volatile-fields.ts";
import { header, provenIdentity, type AlphaResponse, type RouteMatch } from "../../pipeline/context.ts";
import { isAccepted } from "../../pipeline/stages/audit-record.ts";
import type { SunsetRules } from "../../sunset/sunset.ts";
import { CLIENT_GONE } from "../../audit/record.ts";
import {
  createTranslateAgain,
  type Exchange,
  type OtherPack,
  type TranslateAgain,
} from "./translate-again.ts";

/** Requests that wait to be compared, and their bytes: of bodies, v4's responses and answers. */
const MOST_WAITING = 100;
const MOST_BYTES = 16 * 1024 * 1024;

/** Part of the time that the process may be busy with requests while comparisons are made. */
const MOST_BUSY = 0.8;

export interface LiveComparisonOptions {
  /** What answers are compared with; undefined: there is nothing to compare. */
  readonly candidate: () => OtherPack | undefined;
  readonly directory: () => ClientDirectory;
  readonly sunset: SunsetRules;
  readonly report: ReportComparison;
  /** Whether the pack accepts a difference. Default: none is accepted. */
  readonly isAccepted?: (pack: Pack, route: string, difference: Difference) => boolean;
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
 * whom v4 does not know: strangers must not fill the budget and the examples.
 */
function routeToCompare({ context, outcome }: Exchange): RouteMatch | undefined {
  const { match, rejectedBy, isOwnPage } = context;
  if (!match || rejectedBy !== undefined || isOwnPage) return undefined;
  if (match.route.upload || match.route.file || outcome.response.file) return undefined;
  return outcome.meaning === "succeeded" || isAccepted(context) ? match : undefined;
}

const toAnswer = ({ status, headers, body }: AlphaResponse): Answer => ({ status, headers, body });

/** Why an answer can't be compared, whatever the candidate answers. */
function findObstacle({ context, outcome }: Exchange): NotComparableReason | undefined {
  if (outcome.status === CLIENT_GONE) return "client_gone";
  if (outcome.meaning === "limited") return "limited";
  if (outcome.meaning === "failed") return "failed";
  // A token that was issued to the client is issued once.
  return context.match?.route.tokenLevels ? "token" : undefined;
}

/** A candidate that fails where the active pack does not is a difference: v4 has responded. */
const failure = (old: Answer, other: Answer): readonly Difference[] | undefined =>
  other.status >= 500 && old.status < 500
    ? [{ field: "status", kind: "status", old: String(old.status), new: String(other.status) }]
    : undefined;

const NOTHING_VOLATILE = new VolatileFields();

/**
 * Creates the comparison with the candidate. Differences are found once: the same responses of v4 always have the same
 * answer under one pack.
 */
export function createLiveComparison(
  settings: Settings,
  { candidate, directory, sunset, report, isAccepted: accepts = () => false, log }: LiveComparisonOptions,
): LiveComparison {
  const pipelines = new WeakMap<OtherPack, TranslateAgain>();
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let lastLoad = performance.eventLoopUtilization();
  let isRunning = false;

  function pipelineOf(other: OtherPack): TranslateAgain {
    const found = pipelines.get(other);
    if (found) return found;
    const created = createTranslateAgain(settings, other, sunset);
    pipelines.set(other, created);
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

  async function compare(next: Waiting, other: OtherPack): Promise<void> {
    try {
      const response = await pipelineOf(other)(next.exchange);
      const found = response ? judge(next, toAnswer(response)) : ({ reason: "calls" } as const);
      if ("reason" in found) reportNotComparable(next, found.reason);
      else report({ ...describe(next), ...found });
    } catch (error) {
      log.error(
        { code: "AG_CANDIDATE_COMPARISON_FAILED", requestId: next.exchange.request.id, error: errorText(error) },
        "a request could not be compared with the candidate",
      );
    }
  }

  function judge(
    { pack, match: { route }, exchange }: Waiting,
    answer: Answer,
  ): { readonly reason: NotComparableReason } | Pick<Compared, "result" | "key" | "differences" | "sample"> {
    const old = toAnswer(exchange.outcome.response);
    const request = comparedRequest(pack, exchange);
    const rules = createAnswerRules(pack, route, request);
    const failed = failure(old, answer);
    const compared = failed ? { differences: failed } : compareAnswers(old, answer, rules);
    if ("reason" in compared) return compared;
    const { differences } = compared;
    const key = distinctKey({ route }, request, old, NOTHING_VOLATILE);
    if (differences.length === 0) return { result: "equal", key, differences };
    const unaccepted = differences.filter((each) => !accepts(pack, route.name, each));
    return {
      result: unaccepted.length > 0 ? "different" : "accepted",
      key,
      differences: unaccepted,
      sample: { ...request, old, new: answer },
    };
  }

  const reportNotComparable = (about: Waiting, reason: NotComparableReason): void =>
    report({ ...describe(about), result: "not_comparable", reason, key: undefined, differences: [] });

  function describe({ match, exchange: { request, context } }: Waiting): Pick<
    Compared,
    "source" | "route" | "client" | "time" | "requestId"
  > {
    const identity = provenIdentity(request, context);
    return {
      source: "candidate",
      route: match.route.name,
      client: directory().nameOf(identity) ?? identity.application ?? identity.fingerprint ?? null,
      time: context.time.getTime(),
      requestId: request.id,
    };
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
      const match = routeToCompare(exchange);
      if (!match) return;
      const next = { pack, match, exchange, bytes: bytesOf(exchange) };
      const obstacle = findObstacle(exchange);
      if (obstacle !== undefined) return reportNotComparable(next, obstacle);
      if (waiting.length >= MOST_WAITING || waitingBytes + next.bytes > MOST_BYTES)
        return reportNotComparable(next, "budget");
      waiting.push(next);
      waitingBytes += next.bytes;
      schedule();
    },
    stop,
  };
}

/** The request as an example has it. */
function comparedRequest(
  { dialect }: Pack,
  { request }: Exchange,
): Pick<ComparedSample, "method" | "path" | "filter"> {
  const { method, path, query } = request;
  const name = dialect.client.filters?.header?.toLowerCase();
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    filter: (name === undefined ? undefined : header(request, name)) ?? null,
  };
}
