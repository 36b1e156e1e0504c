/** The state of notices in the state store: the last known state, and the waiting notices. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createSharedDocument, isObject, type KeyValueStore, type SharedDocument } from "../../base/index.ts";
import type { Memory } from "./find-news.ts";
import type { Notice, NoticeEvent } from "./notice.ts";
import type { Share, Taken } from "./shares.ts";

/** A notice that waits to be sent to one receiver. It is sent again with the same id. */
export interface Waiting {
  readonly id: string;
  /** Name of the receiver. */
  readonly to: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly notice: Notice;
  /** The share of the notices that wait for the receiver. */
  readonly share: Share;
}

/** Notices of one event in one hour. */
export interface HourCount {
  /** Hours since the epoch. */
  readonly hour: number;
  /** The number of sent notices, by owner. */
  readonly sent: Taken;
  /** The number of notices that were not sent. */
  readonly more: number;
}

/** The version of the stored form. Each change increments it. */
const VERSION = 2;

/** The stored state. */
export interface StoredNotices {
  readonly version: number;
  readonly memory: Memory;
  readonly waiting: readonly Waiting[];
  readonly hours: Readonly<Partial<Record<NoticeEvent, HourCount>>>;
}

/** The stored state before the first look. */
export const NOTHING: StoredNotices = { version: VERSION, memory: {}, waiting: [], hours: {} };

const STATE = "notices:state";
const LEASE = "notices:lease";
/** Seconds for which a process remains the sender, unless it extends the time or resigns. */
export const LEASE_SECONDS = 60;

/** Access to the shared state. All methods throw {StateUnavailableError}. */
export type NoticesStore = ReturnType<typeof createNoticesStore>;

type Store = Pick<KeyValueStore, "get" | "setIfAbsent" | "replace" | "deleteIf">;

/**
 * Damaged state, and state of a different version, is ignored. The next check is then treated as the first one, which
 * reports nothing.
 */
const schema = z
  .custom<StoredNotices>((stored) => isObject(stored) && stored["version"] === VERSION)
  .catch(NOTHING);

/** Creates the access to the shared state. No data is read yet. */
export function createNoticesStore(store: Store) {
  const process = randomUUID();
  const openDocument = (): SharedDocument<StoredNotices> =>
    createSharedDocument(store, { key: STATE, schema, empty: NOTHING });
  let document = openDocument();
  let isLeading = false;
  let last: Promise<unknown> = Promise.resolve();

  return {
    /** Returns the stored state as this process last read it. Only the leading process changes it. */
    current: (): StoredNotices => document.current(),
    /** Becomes or remains the leading process. @returns false while a different process leads */
    async lead(): Promise<boolean> {
      const isExtended = isLeading && (await store.replace(LEASE, process, process, LEASE_SECONDS));
      isLeading = isExtended || (await store.setIfAbsent(LEASE, process, LEASE_SECONDS));
      if (isLeading && !isExtended) {
        // Another process may have led in the meantime. After the store has lost its data, the older state of this
        // process must not be restored.
        document = openDocument();
        await document.refresh();
      }
      return isLeading;
    },
    /** Lets a different process lead. */
    async resign(): Promise<void> {
      if (isLeading) await store.deleteIf(LEASE, process);
      isLeading = false;
    },
    /**
     * Changes the stored state in one step. If another process has changed it in the meantime, `apply` is called again
     * with the new state.
     */
    change(apply: (state: StoredNotices) => StoredNotices): Promise<void> {
      // Changes of this process wait for each other, because concurrent ones would only conflict.
      const done = last.then(() => document.change(apply));
      last = done.catch(() => {});
      return done;
    },
  };
}
