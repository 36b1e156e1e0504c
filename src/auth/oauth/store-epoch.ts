import { randomUUID } from "node:crypto";
import type { KeyValueStore } from "../../storage/key-value-store.ts";

/**
 * What may be missing of what the store was given in the last hour: nothing; all that is older than it, where a new
 * store looks like one that was emptied; some, where it is known that it was emptied.
 */
export type Completeness = "whole" | "new" | "emptied";

/** Tells of a store that was emptied. */
export interface StoreEpoch {
  /**
   * Reads the epoch. Called at the start, so that what happens to the store from then on is seen.
   *
   * @throws {StateUnavailable}
   */
  read(): Promise<Completeness>;
}

const EPOCH = "asked-epoch";
const EPOCH_SECONDS = 400 * 86_400;
const HOUR_MS = 3_600_000;

/** `<milliseconds> <new or emptied> <random>` */
function parse(epoch: string): { readonly at: number; readonly state: Completeness } {
  const [at, state] = epoch.split(" ");
  return { at: Number(at), state: state === "emptied" ? "emptied" : "new" };
}

/**
 * Keeps an epoch in the store, that is lost when the store is emptied. Who knew the one before marks the new one, for
 * all who share the store.
 *
 * @param clock Milliseconds, the same for all who share the store
 */
export function createStoreEpoch(store: KeyValueStore, clock: () => number = Date.now): StoreEpoch {
  let known: string | undefined;
  const made = (state: Completeness): string => `${clock()} ${state} ${randomUUID()}`;

  return {
    async read() {
      await store.setIfAbsent(EPOCH, made("new"), EPOCH_SECONDS);
      let epoch = (await store.get(EPOCH)) ?? made("emptied");
      if (known !== undefined && epoch !== known && parse(epoch).state !== "emptied") {
        await store.replace(EPOCH, epoch, made("emptied"), EPOCH_SECONDS);
        epoch = (await store.get(EPOCH)) ?? made("emptied");
      }
      known = epoch;
      const { at, state } = parse(epoch);
      // A clock that was set back makes it no older.
      return clock() - at < HOUR_MS ? state : "whole";
    },
  };
}
