/** The evidence for and against the translation on a route, client by client: clients count, not requests. */
import { z } from "zod";
import { TRIP } from "../../../compare/index.ts";
import { countedAs } from "../../../gateway/index.ts";

/** The evidence of one client. */
const clientEvidence = z.object({
  /** The proven owner of the requests: see `provenBy`. Several with one token or network are one client. */
  client: z.string(),
  /** When it was seen last: seconds since the epoch. */
  seenAt: z.number(),
  /** Above 0 it speaks against the translation, below 0 for it. */
  score: z.number(),
});
export type ClientEvidence = z.output<typeof clientEvidence>;

/** The evidence of the clients of a route. It contains only some of the clients that succeed. */
export const EVIDENCE = z.array(clientEvidence).readonly();
export type Evidence = z.output<typeof EVIDENCE>;

/** The score of a client that succeeds: three of them outweigh two that always fail. It is also the least score. */
const SUCCESS = -0.23 * TRIP;
/** A client that was not seen for so long does not count as one that is served. */
const PRESENT_SECONDS = 1800;
/** The time for which a client's evidence against the translation counts. */
const REMEMBERED_SECONDS = 86_400;
/** In each interval of this length, a served client is recorded once. */
const REFRESH_SECONDS = PRESENT_SECONDS / 2;
/** Clients of a route whose scores are kept. More say nothing new. */
const MAX_CLIENTS = 50;
/**
 * Maximum number of remembered clients of a route that succeed. This many outweigh six that always fail, so a
 * customer with six networks decides nothing.
 */
const MAX_SUCCEEDING = 20;

/** The mean of values of clients. The lowest and the highest are left out; of two the lower one counts. 0 without any. */
export function meanOfClients(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const counted = sorted.length > 2 ? sorted.slice(1, -1) : sorted.slice(0, 1);
  return counted.length === 0 ? 0 : sum(counted) / counted.length;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const between = (least: number, most: number, value: number): number =>
  Math.min(most, Math.max(least, value));

/** Where some clients fail, each of the others counts in full: their scores may have been forgotten. */
const countedScore = ({ score }: ClientEvidence): number => (score > 0 ? score : SUCCESS);

const totalOf = (evidence: Evidence): number =>
  between(0, TRIP, meanOfClients(evidence.map(countedScore)) * evidence.length);

const isPresent = ({ seenAt }: ClientEvidence, now: number): boolean => now - seenAt < PRESENT_SECONDS;

/**
 * The score of a route: the mean over its clients, times their number. A client that is no longer served can't keep it low.
 *
 * @param now Seconds since the epoch.
 */
export const scoreOf = (evidence: Evidence, now: number): number =>
  Math.max(totalOf(evidence), totalOf(evidence.filter((each) => isPresent(each, now))));

/** Forgets outweighed evidence, and clients that succeed and are too many, or gone. */
function tidy(evidence: Evidence, now: number): Evidence {
  const counted = evidence.filter((each) =>
    each.score > 0 ? now - each.seenAt < REMEMBERED_SECONDS : isPresent(each, now),
  );
  const [worst] = counted.toSorted((one, other) => other.score - one.score);
  // The worst client outweighs no other one, and is not outweighed by others: it does not decide.
  const isOutweighed = sum(counted.map((each) => (each === worst ? 0 : each.score))) <= 0;
  const all = counted.map((each) => {
    if (each === worst) return { ...each, score: Math.max(0, each.score) };
    return isOutweighed ? { ...each, score: 0 } : each;
  });
  // Remembered clients stay, so that nobody can evict others.
  const succeeding = new Set(all.filter(({ score }) => score <= 0).slice(0, MAX_SUCCEEDING));
  return all.filter((each) => each.score > 0 || succeeding.has(each));
}

/** Adds the later evidence of clients. Their scores add up. */
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

/** All clients are noted again at the same time: the shared state is written less often than with a time of each. */
const partOf = (seconds: number): number => Math.floor(seconds / REFRESH_SECONDS);

const scoreIn = (evidence: Evidence, client: string): number | undefined =>
  evidence.find((each) => each.client === client)?.score;

/**
 * The change by a step of a client.
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

/** The served clients, without their evidence. */
export const withoutScores = (evidence: Evidence, now: number): Evidence =>
  tidy(
    evidence.map((each) => ({ ...each, score: 0 })),
    now,
  );
