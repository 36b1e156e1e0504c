/** `data: replicated`: a client changes sides once the other side has its writes. */
import { LRUCache } from "lru-cache";
import type { Side } from "../../gateway/index.ts";

interface Writes {
  readonly side: Side;
  inFlight: number;
  /** When a service accepted the last one. */
  acceptedAt: number;
  /** Since when the sender waits for its change; undefined: it does not. */
  waitsSince: number | undefined;
  /** Whether it waits for its return. Later writes do not postpone that. */
  isReturning: boolean;
}

/**
 * Finds the sender of a write, as far as it is known by now. Undefined for a stranger, whose write keeps nobody on a
 * side.
 */
type FindWriter = () => string | undefined;

/** A write on its way. */
export type BegunWrite = ReturnType<ReturnType<typeof createWriteLag>["begin"]>;

/** More senders than a directory has clients. */
const MAX_WRITERS = 5000;
/** A sender that never stops to write changes nevertheless after this many lags. */
const MAX_LAGS = 5;

/** The last writes of senders, as far as this process has seen them. @param clock Milliseconds, monotonic. */
export function createWriteLag(clock: () => number = () => performance.now()) {
  const lastWrites = new LRUCache<string, Writes>({ max: MAX_WRITERS });

  /** The writes to which one more belongs; undefined: it keeps nobody. */
  function writesOf(writer: string | undefined, side: Side): Writes | undefined {
    if (writer === undefined) return undefined;
    const before = lastWrites.get(writer);
    if (before?.side === side) return before.isReturning ? undefined : before;
    const writes = { side, inFlight: 0, acceptedAt: -Infinity, waitsSince: undefined, isReturning: false };
    lastWrites.set(writer, writes);
    return writes;
  }

  return {
    /** Notes a write. It keeps its sender on the side while it is in flight, and once it is accepted for the lag. */
    begin(findWriter: FindWriter, side: Side) {
      const writer = findWriter();
      const writes = writesOf(writer, side);
      if (writes) writes.inFlight += 1;
      return {
        /** A service has done the write, or may have. Also after its end. */
        accept(): void {
          // A service may have accepted the token of a stranger meanwhile.
          const accepted = writer === undefined ? writesOf(findWriter(), side) : writes;
          if (accepted) accepted.acceptedAt = clock();
        },
        /** Its response has ended. To be called once. */
        end(): void {
          if (writes) writes.inFlight -= 1;
        },
      };
    },
    /** The side on which a sender stays for now; undefined: it may change. */
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
