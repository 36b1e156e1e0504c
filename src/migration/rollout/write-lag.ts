/** Implements `data: replicated`: a client changes sides after its writes have reached the other side. */
import { LRUCache } from "lru-cache";
import type { Side } from "../../gateway/index.ts";

interface Writes {
  readonly side: Side;
  inFlight: number;
  /** The time when a service accepted the last write. */
  acceptedAt: number;
  /** The time since which the sender waits for its change; undefined: it does not wait. */
  waitsSince: number | undefined;
  /** Whether the sender waits for its return, which later writes do not delay. */
  isReturning: boolean;
}

/**
 * Returns the sender of a write, with the current knowledge. Undefined for an unknown sender, whose writes are ignored.
 */
type FindWriter = () => string | undefined;

/** A write in progress. */
export type BegunWrite = ReturnType<ReturnType<typeof createWriteLag>["begin"]>;

/** Maximum number of senders, more than a directory has clients. */
const MAX_WRITERS = 5000;
/** A sender that never stops writing changes sides after this number of lags. */
const MAX_LAGS = 5;

/** Records the last writes of senders in this process. @param clock a monotonic clock in milliseconds */
export function createWriteLag(clock: () => number = () => performance.now()) {
  const lastWrites = new LRUCache<string, Writes>({ max: MAX_WRITERS });

  /** Returns the writes of a sender on a side; undefined if the writes are ignored. */
  function writesOf(writer: string | undefined, side: Side): Writes | undefined {
    if (writer === undefined) return undefined;
    const before = lastWrites.get(writer);
    if (before?.side === side) return before.isReturning ? undefined : before;
    const writes = { side, inFlight: 0, acceptedAt: -Infinity, waitsSince: undefined, isReturning: false };
    lastWrites.set(writer, writes);
    return writes;
  }

  return {
    /** Records a write. It keeps its sender on the side while it is in flight, and for the lag after it was accepted. */
    begin(findWriter: FindWriter, side: Side) {
      const writer = findWriter();
      const writes = writesOf(writer, side);
      if (writes) writes.inFlight += 1;
      return {
        /** A service has executed the write, or may have. May be called after the end of the response. */
        accept(): void {
          // A service may have accepted the token of an unknown sender in the meantime.
          const accepted = writer === undefined ? writesOf(findWriter(), side) : writes;
          if (accepted) accepted.acceptedAt = clock();
        },
        /** Called once, when the response has ended. */
        end(): void {
          if (writes) writes.inFlight -= 1;
        },
      };
    },
    /** Returns the side on which a sender currently stays; undefined: it may change. */
    staysOn(
      writer: string,
      wanted: Side,
      { lagMs, isReturn }: { readonly lagMs: number; readonly isReturn: boolean },
    ): Side | undefined {
      const writes = lastWrites.get(writer);
      if (!writes) return undefined;
      const waits = writes.side !== wanted;
      writes.isReturning = waits && isReturn;
      if (!waits) {
        writes.waitsSince = undefined;
        return undefined;
      }
      const now = clock();
      if (writes.inFlight === 0 && now - writes.acceptedAt >= lagMs) return undefined;
      writes.waitsSince ??= now;
      return now - writes.waitsSince < MAX_LAGS * lagMs ? writes.side : undefined;
    },
  };
}
