/** One look: what was found becomes what is remembered, and what waits to be sent. Pure. */
import { randomUUID } from "node:crypto";
import { findNews, type Facts } from "./find-news.ts";
import type { Notice, NoticeEvent } from "./notice.ts";
import type { Receiver } from "./notices-file.ts";
import type { HourCount, StoredNotices, Waiting } from "./state.ts";

/** Notices of one event that are sent within an hour. */
export const MAX_PER_HOUR = 20;
/** Notices that wait for one receiver. Above it the oldest are dropped. */
const MAX_WAITING = 500;

const HOUR_MS = 3_600_000;
const hourOf = (time: number): number => Math.floor(time / HOUR_MS);

/** What a look sees, and who is told. */
export interface Look extends Facts {
  readonly receivers: readonly Receiver[];
}

/** What is stored after a look. */
export interface Looked {
  readonly state: StoredNotices;
  /** What no longer waits, because there is too much. */
  readonly dropped: readonly Waiting[];
  /** Clients that are not remembered, because there are too many. */
  readonly ignored: number;
}

/** Whether an hour is over in which there were more notices than were sent. */
export const isMoreDue = ({ hours }: Pick<StoredNotices, "hours">, time: number): boolean =>
  Object.values(hours).some(({ hour, more }) => more > 0 && hour < hourOf(time));

/** One notice for each event of hours that are over: how many more there were. */
function findMore({ hours }: Pick<StoredNotices, "hours">, time: number): Notice<"more">[] {
  const counts = Object.entries(hours) as [NoticeEvent, HourCount][];
  return counts
    .filter(([, { hour, more }]) => more > 0 && hour < hourOf(time))
    .map(([event, { hour, more: count }]) => ({
      type: "more",
      timestamp: new Date(time).toISOString(),
      data: { event, count, hour: new Date(hour * HOUR_MS).toISOString() },
    }));
}

/** Finds the notices that are sent: at most {@link MAX_PER_HOUR} of an event in an hour. The others are counted. */
function limitNotices(
  before: Pick<StoredNotices, "hours">,
  notices: readonly Notice<NoticeEvent>[],
  time: number,
): { readonly hours: StoredNotices["hours"]; readonly sent: readonly Notice[] } {
  const hour = hourOf(time);
  const hours: Partial<Record<NoticeEvent, HourCount>> = {};
  for (const [event, count] of Object.entries(before.hours) as [NoticeEvent, HourCount][])
    if (count.hour === hour) hours[event] = count;
  const sent: Notice[] = [];
  for (const notice of notices) {
    const count = hours[notice.type] ?? { hour, notices: 0, more: 0 };
    const isFull = count.notices >= MAX_PER_HOUR;
    hours[notice.type] = isFull
      ? { ...count, more: count.more + 1 }
      : { ...count, notices: count.notices + 1 };
    if (!isFull) sent.push(notice);
  }
  return { hours, sent };
}

/** Addresses a notice to its receivers. */
function addressNotice(notice: Notice, receivers: readonly Receiver[], at: number): Waiting[] {
  const { type, data } = notice;
  return receivers
    .filter(({ events }) => type !== "test" && events.has(type === "more" ? data.event : type))
    .map(({ name }) => ({ id: `msg_${randomUUID()}`, to: name, at, notice }));
}

/** The oldest notices of receivers for which too many wait. */
function findExcess(waiting: readonly Waiting[]): Waiting[] {
  return [...Map.groupBy(waiting, ({ to }) => to).values()].flatMap((entries) =>
    entries.slice(0, Math.max(0, entries.length - MAX_WAITING)),
  );
}

/** Compares a look with what is stored. */
export function takeLook(before: StoredNotices, { receivers, ...facts }: Look): Looked {
  const { time } = facts;
  const { memory, notices, ignored } = findNews(before.memory, facts);
  const { hours, sent } = limitNotices(before, notices, time);
  const added = [...findMore(before, time), ...sent].flatMap((notice) =>
    addressNotice(notice, receivers, time),
  );
  const all = [...before.waiting, ...added];
  const dropped = added.length > 0 ? findExcess(all) : [];
  const isDropped = new Set(dropped);
  const waiting = all.filter((entry) => !isDropped.has(entry));
  return { state: { ...before, memory, hours, waiting }, dropped, ignored };
}
