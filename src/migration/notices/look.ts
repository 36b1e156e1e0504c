/** One check, as a pure function from the observed state to the stored state and the waiting notices. */
import { randomUUID } from "node:crypto";
import { HOUR_MS } from "../../base/index.ts";
import { findNews, type Facts, type NewsItem } from "./find-news.ts";
import type { Notice, NoticeEvent } from "./notice.ts";
import type { Receiver } from "./notices-file.ts";
import { groupOf, PLAN, NoticeShares, type NoticeLimits } from "./shares.ts";
import type { HourCount, StoredNotices, Waiting } from "./stored-notices.ts";

/** Maximum number of notices of one event that are sent within an hour. */
const MAX_PER_HOUR: NoticeLimits = { group: 20, client: 5 };
/**
 * Maximum number of notices that wait for one receiver. If there are more, the oldest of the client with the most
 * notices are dropped.
 */
const MAX_WAITING = 500;

const hourOf = (time: number): number => Math.floor(time / HOUR_MS);

type Hours = Pick<StoredNotices, "hours">;

/** The state at a check, and the receivers. */
export interface Look extends Facts {
  readonly receivers: readonly Receiver[];
}

/** Notices of an event that are not sent, because there are too many within an hour. */
export interface Limited {
  readonly event: NoticeEvent;
  readonly count: number;
  /** Whether it is the first of these notices in this hour. */
  readonly isFirst: boolean;
}

/** The result of a check. */
export type Looked = ReturnType<typeof takeLook>;

const countsOf = ({ hours }: Hours): [NoticeEvent, HourCount][] =>
  Object.entries(hours) as [NoticeEvent, HourCount][];

/** Returns one notice for each event of past hours, with the number of further notices. */
function findMore(before: Hours, time: number): Notice<"more">[] {
  return countsOf(before)
    .filter(([, { hour, more }]) => more > 0 && hour < hourOf(time))
    .map(([event, { hour, more: count }]) => ({
      type: "more",
      timestamp: new Date(time).toISOString(),
      data: { event, count, hour: new Date(hour * HOUR_MS).toISOString() },
    }));
}

/** Whether a notice must report the number of further notices. */
export const isMoreDue = (before: Hours, time: number): boolean => findMore(before, time).length > 0;

/** Finds the news to send: at most {@link MAX_PER_HOUR} of an event in an hour. Further news is only counted. */
function limitNews(
  before: Hours,
  items: readonly NewsItem[],
  time: number,
): {
  readonly hours: StoredNotices["hours"];
  readonly sent: readonly NewsItem[];
  readonly limited: Limited[];
} {
  const hour = hourOf(time);
  const hours = Object.fromEntries(countsOf(before).filter(([, count]) => count.hour === hour));
  const sent: NewsItem[] = [];
  const limited: Limited[] = [];
  for (const [event, ofEvent] of Map.groupBy(items, ({ notice }) => notice.type)) {
    const known: HourCount = hours[event] ?? { hour, sent: {}, more: 0 };
    const shares = new NoticeShares(MAX_PER_HOUR, known.sent);
    const within = ofEvent.filter(({ share }) => shares.take(share));
    sent.push(...within);
    const count = ofEvent.length - within.length;
    if (count > 0) limited.push({ event, count, isFirst: known.more === 0 });
    hours[event] = { hour, sent: shares.taken(), more: known.more + count };
  }
  return { hours, sent, limited };
}

/** Addresses a notice to its receivers. */
function addressNotice({ notice, share }: Pick<Waiting, "notice" | "share">, look: Look): Waiting[] {
  const { type, data } = notice;
  return look.receivers
    .filter(({ events }) => type !== "test" && events.has(type === "more" ? data.event : type))
    .map(({ name }) => ({ id: `msg_${randomUUID()}`, to: name, at: look.time, notice, share }));
}

/** Returns the largest of several groups of notices. If several are equally large, it is the one with the oldest notice. */
const largestBy = (waiting: readonly Waiting[], keyOf: (entry: Waiting) => string): readonly Waiting[] =>
  [...Map.groupBy(waiting, keyOf).values()].reduce<readonly Waiting[]>(
    (largest, group) => (group.length > largest.length ? group : largest),
    [],
  );

/** The notices that exceed the limit of a receiver: the oldest of the client with the most notices in the largest group. */
function findExcess(waiting: readonly Waiting[]): Waiting[] {
  const left = new Set(waiting);
  const excess: Waiting[] = [];
  while (left.size > MAX_WAITING) {
    const group = largestBy([...left], ({ share }) => groupOf(share));
    const [oldest] = largestBy(group, ({ share }) => share);
    if (!oldest) break;
    left.delete(oldest);
    excess.push(oldest);
  }
  return excess;
}

/** Compares a check with the stored state. */
export function takeLook(before: StoredNotices, look: Look) {
  const { time } = look;
  const { memory, items, ignored } = findNews(before.memory, look);
  const { hours, sent, limited } = limitNews(before, items, time);
  const more = findMore(before, time).map((notice) => ({ notice, share: PLAN }));
  const added = [...more, ...sent].flatMap((item) => addressNotice(item, look));
  const all = [...before.waiting, ...added];
  const dropped = [...Map.groupBy(all, ({ to }) => to).values()].flatMap(findExcess);
  const isDropped = new Set(dropped);
  const waiting = all.filter((entry) => !isDropped.has(entry));
  const stored: StoredNotices = { ...before, memory, hours, waiting };
  // `dropped` and `limited` are too many to send; `ignored` are too many to store.
  return { stored, dropped, limited, ignored };
}
