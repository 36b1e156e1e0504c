/** What notices remember in the state store: what was seen, what waits to be sent, and when reports were made. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { isObject } from "../dialect/json/parse.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { createSharedDocument, type SharedDocument } from "../storage/shared-document.ts";
import type { Memory } from "./find-news.ts";
import type { CountedNotice, DigestName, Notice, NoticeEvent, StateChange } from "./notice.ts";
import type { Receiver } from "./notices-file.ts";

/** Name of the receiver of all reports to contacts. No receiver of the file can have it. */
export const CONTACTS = "contacts:";

/** Something that waits to be sent to one receiver. It is sent again with the same id. */
export interface Waiting {
  readonly id: string;
  /** Name of the receiver. */
  readonly to: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Undefined for a report to a contact. */
  readonly notice?: Notice;
  /** Name of the client to whose contact a report goes. The contact is only in the client directory. */
  readonly client?: string;
}

/** Notices of one event in one hour. */
interface HourCount {
  /** Hours since the epoch. */
  readonly hour: number;
  readonly notices: number;
  /** Those that were not sent. */
  readonly more: number;
}

/** Changes since the last report. */
export interface DigestState {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly changes: readonly StateChange[];
  /** Changes that are not in the list. */
  readonly more: number;
}

/** The form of what is stored. Whoever changes it counts it up. */
const VERSION = 1;

export interface StoredNotices {
  readonly version: number;
  readonly memory: Memory;
  readonly waiting: readonly Waiting[];
  readonly hours: Readonly<Partial<Record<NoticeEvent, HourCount>>>;
  readonly digests: Readonly<Partial<Record<DigestName, DigestState>>>;
}

const NOTHING: StoredNotices = { version: VERSION, memory: {}, waiting: [], hours: {}, digests: {} };

/** Notices of one event that are sent within an hour. */
export const MAX_PER_HOUR = 20;
/** Notices that wait for one receiver. Above it the oldest are dropped. */
export const MAX_WAITING = 500;
/** Clients of the directory, whose reports to contacts wait together. */
const MAX_WAITING_CONTACTS = 1000;
/** Changes that one report lists. */
export const MAX_CHANGES = 100;

const HOUR_MS = 3_600_000;

/** How metrics call something that waits. */
export const countedAs = ({ notice }: Waiting): CountedNotice => notice?.type ?? "contact";

/** Something that waits for a receiver, with a new id. */
export const createWaiting = (entry: Omit<Waiting, "id">): Waiting => ({
  id: `msg_${randomUUID()}`,
  ...entry,
});

/** Addresses a notice to its receivers. */
const addressNotice = (notice: Notice, receivers: readonly Receiver[], at: number): Waiting[] => {
  const { type, data } = notice;
  const isFor = ({ events, digests }: Receiver): boolean =>
    type === "digest"
      ? digests.has(data.digest)
      : type !== "test" && events.has(type === "more" ? data.event : type);
  return receivers.filter(isFor).map(({ name }) => createWaiting({ to: name, at, notice }));
};

/** Adds what waits, and drops the oldest of receivers that have too many. */
export function addWaiting(
  state: StoredNotices,
  added: readonly Waiting[],
): { readonly state: StoredNotices; readonly dropped: readonly Waiting[] } {
  if (added.length === 0) return { state, dropped: [] };
  const byReceiver = Map.groupBy([...state.waiting, ...added], ({ to }) => to);
  const dropped = [...byReceiver].flatMap(([to, entries]) =>
    entries.slice(0, Math.max(0, entries.length - (to === CONTACTS ? MAX_WAITING_CONTACTS : MAX_WAITING))),
  );
  const isDropped = new Set(dropped);
  const waiting = [...state.waiting, ...added].filter((entry) => !isDropped.has(entry));
  return { state: { ...state, waiting }, dropped };
}

/**
 * Addresses notices to receivers: at most {@link MAX_PER_HOUR} of an event in an hour. Once the hour is over, one notice
 * says how many more there were.
 */
export function limitNotices(
  state: StoredNotices,
  notices: readonly Notice[],
  receivers: readonly Receiver[],
  time: number,
): { readonly hours: StoredNotices["hours"]; readonly added: readonly Waiting[] } {
  const hour = Math.floor(time / HOUR_MS);
  const hours: Partial<Record<NoticeEvent, HourCount>> = { ...state.hours };
  const added: Waiting[] = [];
  for (const [event, count] of Object.entries(hours) as [NoticeEvent, HourCount][]) {
    if (count.hour === hour) continue;
    delete hours[event];
    if (count.more === 0) continue;
    const data = { event, count: count.more, hour: new Date(count.hour * HOUR_MS).toISOString() };
    const more = { type: "more", timestamp: new Date(time).toISOString(), data } as const;
    added.push(...addressNotice(more, receivers, time));
  }
  for (const notice of notices) {
    const { type } = notice;
    if (type === "digest" || type === "more" || type === "test") {
      added.push(...addressNotice(notice, receivers, time));
      continue;
    }
    const count = hours[type] ?? { hour, notices: 0, more: 0 };
    const isFull = count.notices >= MAX_PER_HOUR;
    hours[type] = isFull ? { ...count, more: count.more + 1 } : { ...count, notices: count.notices + 1 };
    if (!isFull) added.push(...addressNotice(notice, receivers, time));
  }
  return { hours, added };
}

/** Adds changes to what the next reports list. */
export function addChanges(
  { digests }: StoredNotices,
  changes: readonly StateChange[],
): StoredNotices["digests"] {
  return Object.fromEntries(
    Object.entries(digests).map(([name, digest]) => {
      const all = [...digest.changes, ...changes];
      const listed = all.slice(0, MAX_CHANGES);
      return [name, { ...digest, changes: listed, more: digest.more + all.length - listed.length }];
    }),
  );
}

const STATE = "notices:state";
const LEASE = "notices:lease";
/** How long a process is the one that sends, unless it extends the time or gives it back. */
export const LEASE_SECONDS = 60;
/** Access to the shared state. All methods throw {StateUnavailableError}. */
export interface NoticesState {
  /** Becomes or stays the one process that looks and sends. @returns false while another process is */
  lead(): Promise<boolean>;
  /** Lets another process lead. */
  resign(): Promise<void>;
  /** What is stored, as far as this process knows. Only the process that leads changes it. */
  readonly current: () => StoredNotices;
  /**
   * Changes what is stored, in one step: if another process has changed it meanwhile, `apply` is called again with that.
   */
  change(apply: (state: StoredNotices) => StoredNotices): Promise<void>;
}

type Store = Pick<KeyValueStore, "get" | "setIfAbsent" | "replace" | "deleteIf">;

/** What is damaged, or of another version, counts as nothing: the next look is then the first one, which reports nothing. */
const schema = z
  .custom<StoredNotices>((stored) => isObject(stored) && stored["version"] === VERSION)
  .catch(NOTHING);

/** Creates the access to the shared state. Nothing is read yet. */
export function createNoticesState(store: Store): NoticesState {
  const process = randomUUID();
  const openDocument = (): SharedDocument<StoredNotices> =>
    createSharedDocument(store, { key: STATE, schema, empty: NOTHING });
  let document = openDocument();
  let isLeading = false;
  let last: Promise<unknown> = Promise.resolve();

  return {
    current: () => document.current(),
    async lead() {
      const isExtended = isLeading && (await store.replace(LEASE, process, process, LEASE_SECONDS));
      isLeading = isExtended || (await store.setIfAbsent(LEASE, process, LEASE_SECONDS));
      if (isLeading && !isExtended) {
        // Another process may have led meanwhile: a store that has lost its data must not get back what this one knew before.
        document = openDocument();
        await document.refresh();
      }
      return isLeading;
    },
    async resign() {
      if (isLeading) await store.deleteIf(LEASE, process);
      isLeading = false;
    },
    change(apply) {
      // Changes of this process wait for each other: they would only lose against themselves.
      const done = last.then(() => document.change(apply));
      last = done.catch(() => {});
      return done;
    },
  };
}
