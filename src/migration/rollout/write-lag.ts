/** `data: replicated`: a client changes sides once the other side has its writes. */
import { LRUCache } from "lru-cache";
import type { Side } from "../../gateway/index.ts";

interface Writes {
  readonly side: Side;
  inFlight: number;
  /** When the last one ended. */
  endedAt: number;
  /** Since when the client waits for its change; undefined: it does not. */
  waitsSince: number | undefined;
}

/** The last writes of clients, as far as this process has seen them. */
export interface WriteLag {
  /** Notes a write. @returns What to call when its response has ended */
  begin(client: string, side: Side): () => void;
  /** The side on which a client stays for now; undefined: it may change. */
  staysOn(client: string, wanted: Side, lagMs: number): Side | undefined;
}

/** More clients than a directory has. */
const MAX_CLIENTS = 5000;
/** A client that never stops to write changes nevertheless after this many lags. */
const MAX_LAGS = 5;

/** @param clock Milliseconds, monotonic. */
export function createWriteLag(clock: () => number = () => performance.now()): WriteLag {
  const lastWrites = new LRUCache<string, Writes>({ max: MAX_CLIENTS });
  return {
    begin(client, side) {
      const before = lastWrites.get(client);
      const writes: Writes =
        before?.side === side ? before : { side, inFlight: 0, endedAt: 0, waitsSince: undefined };
      if (writes !== before) lastWrites.set(client, writes);
      writes.inFlight += 1;
      return () => {
        writes.inFlight -= 1;
        writes.endedAt = clock();
      };
    },
    staysOn(client, wanted, lagMs) {
      const writes = lastWrites.get(client);
      if (!writes || writes.side === wanted) {
        if (writes) writes.waitsSince = undefined;
        return undefined;
      }
      const now = clock();
      if (writes.inFlight === 0 && now - writes.endedAt >= lagMs) return undefined;
      writes.waitsSince ??= now;
      return now - writes.waitsSince < MAX_LAGS * lagMs ? writes.side : undefined;
    },
  };
}
