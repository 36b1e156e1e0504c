/** The state of notices in the state store: the last seen state, and the waiting notices. */
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
  /** Its share of the notices that wait for the receiver. */
  readonly share: Share;
}

/** Notices of one event in one hour. */
export interface HourCount {
  /** Hours since the epoch. */
  readonly hour: number;
  /** Sent notices, by owner. */
  readonly sent: Taken;
  /** How many were not sent. */
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
/** How long a process remains the sender, unless it extends the time or gives it back. Milliseconds. */
export const LEASE_SECONDS = 60;

/** Access to the shared state. All methods throw {StateUnavailableError}. */
export type NoticesStore = ReturnType<typeof createNoticesStore>;

type Store = Pick<KeyValueStore, "get" | "setIfAbsent" | "replace" | "deleteIf">;

/**
 * Damaged state, and state of another version, is ignored. The next look then counts as the first one, which reports
 * nothing.
 */
const schema = z
  .custom<StoredNotices>((stored) => isObject(stored) && stored["version"] === VERSION)
  .catch(NOTHING);

/** Creates the access to the shared state. Nothing is read yet. */
export function createNoticesStore(store: Store) {
  const process = randomUUID();
  const openDocument = (): SharedDocument<StoredNotices> =>
    createSharedDocument(store, { key: STATE, schema, empty: NOTHING });
  let document = openDocument();
  let isLeading = false;
  let last: Promise<unknown> = Promise.resolve();

  return {
    /** The stored state, as far as this process knows. Only the process that leads changes it. */
    current: (): StoredNotices => document.current(),
    /** Becomes or remains the process that looks and sends. @returns false while another process is */
    async lead(): Promise<boolean> {
      const isExtended = isLeading && (await store.replace(LEASE, process, process, LEASE_SECONDS));
      isLeading = isExtended || (await store.setIfAbsent(LEASE, process, LEASE_SECONDS));
      if (isLeading && !isExtended) {
        // Another process may have led meanwhile. A store that has lost its data must not get back the older state of
        // this process.
        document = openDocument();
        await document.refresh();
      }
      return isLeading;
    },
    /** Lets another process lead. */
    async resign(): Promise<void> {
      if (isLeading) await store.deleteIf(LEASE, process);
      isLeading = false;
    },
    /**
     * Changes the stored state in one step. If another process has changed it meanwhile, `apply` is called again with
     * the new state.
     */
    change(apply: (state: StoredNotices) => StoredNotices): Promise<void> {
      // Changes of this process wait for each other: they would only lose against themselves.
      const done = last.then(() => document.change(apply));
      last = done.catch(() => {});
      return done;
    },
  };
}
