import { randomUUID } from "node:crypto";
import { HOUR_MS, type KeyValueStore } from "../../base/index.ts";

/**
 * Whether the store still contains the entries of the last hour. `whole`: all of them. `new`: the store is younger than
 * an hour, or was emptied while no process ran. `emptied`: entries were lost.
 */
type Completeness = "whole" | "new" | "emptied";

/** Detects whether the store was emptied. */
export interface StoreEpoch {
  /**
   * Reads the epoch. Call it at the start as well, because only a loss after the first call is detected.
   *
   * @throws {StateUnavailableError}
   */
  read(): Promise<Completeness>;
}

const KEY = "asked-epoch";
const TTL_SECONDS = 400 * 86_400;

/** An epoch is `<milliseconds> <new or emptied> <random>`. @returns undefined for any other text */
function parseEpoch(epoch: string): { readonly createdAt: number; readonly state: Completeness } | undefined {
  const [, createdAt, state] = /^(\d{1,15}) (new|emptied) \S+$/.exec(epoch) ?? [];
  return createdAt === undefined
    ? undefined
    : { createdAt: Number(createdAt), state: state === "emptied" ? "emptied" : "new" };
}

/**
 * Keeps an epoch in the store. It is lost if the store is emptied. A process that has read the previous epoch marks the
 * new one, for all processes that share the store.
 *
 * @param clock Milliseconds, the same for all processes that share the store.
 */
export function createStoreEpoch(store: KeyValueStore, clock: () => number = Date.now): StoreEpoch {
  let lastEpoch: string | undefined;
  const createEpoch = (state: Completeness): string => `${clock()} ${state} ${randomUUID()}`;

  return {
    async read() {
      await store.setIfAbsent(KEY, createEpoch("new"), TTL_SECONDS);
      let epoch = (await store.get(KEY)) ?? createEpoch("emptied");
      const found = parseEpoch(epoch);
      const isChanged = lastEpoch !== undefined && epoch !== lastEpoch;
      if (!found || (isChanged && found.state !== "emptied")) {
        await store.replace(KEY, epoch, createEpoch("emptied"), TTL_SECONDS);
        epoch = (await store.get(KEY)) ?? createEpoch("emptied");
      }
      lastEpoch = epoch;
      const { createdAt, state } = parseEpoch(epoch) ?? { createdAt: clock(), state: "emptied" };
      // If the clock was set back, the store is treated as young for longer.
      return clock() - createdAt < HOUR_MS ? state : "whole";
    },
  };
}
