/**
 * The evidence for and against the translation on a route, separately for each client, because clients are weighted
 * instead of requests.
 */
import { z } from "zod";
import { TRIP } from "./cusum.ts";
import { countedAs } from "../../../gateway/index.ts";

/** The evidence of one client. */
const clientEvidence = z.object({
  /** The proven owner of the requests: see `provenBy`. Owners with the same token or network are treated as one client. */
  client: z.string(),
  /** The time of the client's last request: seconds since the epoch. */
  seenAt: z.number(),
  /** Above 0: evidence against the translation. Below 0: evidence for it. */
  score: z.number(),
});
export type ClientEvidence = z.output<typeof clientEvidence>;

/** The evidence of the clients of a route. It only contains some of the clients whose requests succeed. */
export const EVIDENCE = z.array(clientEvidence).readonly();
export type Evidence = z.output<typeof EVIDENCE>;

/** The score of a client whose requests succeed: three of them outweigh two that always fail. It is also the minimum score. */
const SUCCESS = -0.23 * TRIP;
/** Seconds after its last request for which a client is treated as served. */
const PRESENT_SECONDS = 1800;
/** Seconds for which a client's evidence against the translation is used. */
const REMEMBERED_SECONDS = 86_400;
/** Seconds. In each interval of this length, a served client is recorded once. */
const REFRESH_SECONDS = PRESENT_SECONDS / 2;
/** Maximum number of clients of a route whose scores are kept. Further clients contain no new information. */
const MAX_CLIENTS = 50;
/**
 * Maximum number of stored clients of a route whose requests succeed. They outweigh six that always fail, so that a
 * client with six networks can't decide alone.
 */
const MAX_SUCCEEDING = 20;

/**
 * Returns the mean of values of clients, without the lowest and the highest value; for two values, the lower one; 0 if
 * there are none.
 */
export function meanOfClients(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const counted = sorted.length > 2 ? sorted.slice(1, -1) : sorted.slice(0, 1);
  return counted.length === 0 ? 0 : sum(counted) / counted.length;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const between = (least: number, most: number, value: number): number =>
  Math.min(most, Math.max(least, value));

/**
 * Returns the score of a client. If some clients fail, each of the others has the full score of a success: its own
 * score may have been deleted.
 */
const countedScore = ({ score }: ClientEvidence): number => (score > 0 ? score : SUCCESS);

const totalOf = (evidence: Evidence): number =>
  between(0, TRIP, meanOfClients(evidence.map(countedScore)) * evidence.length);

const isPresent = ({ seenAt }: ClientEvidence, now: number): boolean => now - seenAt < PRESENT_SECONDS;

/**
 * Returns the score of a route: the mean over its clients, times their number. A client that is no longer served can't
 * keep it low.
 *
 * @param now Seconds since the epoch.
 */
export const scoreOf = (evidence: Evidence, now: number): number =>
  Math.max(totalOf(evidence), totalOf(evidence.filter((each) => isPresent(each, now))));

/** Removes outweighed evidence, and successful clients that exceed the limit or are no longer served. */
function tidy(evidence: Evidence, now: number): Evidence {
  const counted = evidence.filter((each) =>
    each.score > 0 ? now - each.seenAt < REMEMBERED_SECONDS : isPresent(each, now),
  );
  const [worst] = counted.toSorted((one, other) => other.score - one.score);
  // The worst client outweighs no other client, and is not outweighed: it does not decide.
  const isOutweighed = sum(counted.map((each) => (each === worst ? 0 : each.score))) <= 0;
  const all = counted.map((each) => {
    if (each === worst) return { ...each, score: Math.max(0, each.score) };
    return isOutweighed ? { ...each, score: 0 } : each;
  });
  // Stored clients are kept, so that no client can evict others.
  const succeeding = new Set(all.filter(({ score }) => score <= 0).slice(0, MAX_SUCCEEDING));
  return all.filter((each) => each.score > 0 || succeeding.has(each));
}

/** Adds later evidence of clients. Their scores are added up. */
export function addEvidence(evidence: Evidence, more: Evidence, now: number): Evidence {
  const byClient = new Map(evidence.map((each) => [each.client, each]));
  for (const { client: by, seenAt, score } of more) {
    const client = countedAs([...byClient.keys()], by);
    const before = byClient.get(client);
    if (!before && byClient.size >= MAX_CLIENTS) continue;
    byClient.set(client, {
      client,
      seenAt: Math.max(seenAt, before?.seenAt ?? 0),
      score: between(SUCCESS, TRIP, (before?.score ?? 0) + score),
    });
  }
  return tidy([...byClient.values()], now);
}

/** The interval of a time. All clients are recorded again at the same time, so that the shared state is written less often. */
const partOf = (seconds: number): number => Math.floor(seconds / REFRESH_SECONDS);

const scoreIn = (evidence: Evidence, client: string): number | undefined =>
  evidence.find((each) => each.client === client)?.score;

/**
 * Returns the change by a step of a client.
 *
 * @param step Its score is above 0 for a difference or a failure.
 * @returns undefined if it changes nothing
 */
export function changeBy(evidence: Evidence, step: ClientEvidence): ClientEvidence | undefined {
  const { seenAt } = step;
  const client = countedAs(
    evidence.map((each) => each.client),
    step.client,
  );
  const before = evidence.find((each) => each.client === client);
  const after = addEvidence(evidence, [step], seenAt);
  const isRefreshed = before !== undefined && partOf(seenAt) > partOf(before.seenAt);
  const isSame =
    after.length === evidence.length && after.every((each) => scoreIn(evidence, each.client) === each.score);
  if (isSame && !isRefreshed) return undefined;
  const earlier = before?.score ?? 0;
  return { client, seenAt, score: between(SUCCESS, TRIP, earlier + step.score) - earlier };
}

/** Returns the served clients, without their evidence. */
export const withoutScores = (evidence: Evidence, now: number): Evidence =>
  tidy(
    evidence.map((each) => ({ ...each, score: 0 })),
    now,
  );
