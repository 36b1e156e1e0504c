import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectionShares } from "../upstream/connection-shares.ts";
import type { ShareClient } from "../upstream/share-usage.ts";
import { LEAST_AWAITED_STREAM_RATE } from "./policy.ts";

/** A request and its response, both streamed, with the bytes that each has transferred. */
export interface ForwardedStream {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Whether the upstream's whole response has arrived. */
  readonly isComplete: boolean;
  /**
   * State of the guard: the position in the list, the bytes at the last check, and the number of consecutive checks
   * at which somebody waited for it.
   */
  guarded: { place: number; bytesBefore: number | undefined; timesAwaited: number } | undefined;
  /** The client whose share includes its connection. */
  readonly client: ShareClient | undefined;
  /** Ends the stream. */
  abort(reason: string): void;
}

/** Ends streams that are too slow while others wait for their connections. */
export type SlowStreamGuard = ReturnType<typeof createSlowStreamGuard>;

/**
 * The end that delays a stream. Before the first byte of the response there is none, because the upstream has its own
 * time limit.
 */
function findSlowEnd({ request, response, isComplete }: ForwardedStream): "client" | "upstream" | undefined {
  if (!request.complete || response.writableNeedDrain) return "client";
  return response.headersSent && !isComplete ? "upstream" : undefined;
}

/** Records the progress of a stream while one end delays it. Returns the bytes since the last check. */
function measure(stream: ForwardedStream): number | undefined {
  const { bytesIn, bytesOut, guarded } = stream;
  if (!guarded) return undefined;
  const { bytesBefore } = guarded;
  const bytes = bytesIn + bytesOut;
  guarded.bytesBefore = findSlowEnd(stream) && bytes;
  return guarded.bytesBefore === undefined || bytesBefore === undefined ? undefined : bytes - bytesBefore;
}

export interface SlowStreamGuardOptions {
  /** The connections of the streams. */
  readonly shares: Pick<ConnectionShares, "isAwaited" | "isExhausted" | "queueLength">;
  /** Milliseconds between two checks. */
  readonly windowMs: number;
  /** Called if a check finds that all connections are in use, once until nobody waits. */
  readonly onExhausted: (() => void) | undefined;
}

/**
 * Creates the guard. A stream is only ended if a waiting client would get its connection. A client that waits for its
 * own share must not end the streams of others. The slowest streams end first, and at most as many as clients wait.
 * The minimum rate grows while clients wait, so that no stream can keep its connection forever.
 */
export function createSlowStreamGuard({ shares, windowMs, onExhausted }: SlowStreamGuardOptions) {
  /**
   * A list, not a `Map`: when entries enter and leave a map, it copies its table again and again, and old tables keep
   * their requests until the next full garbage collection.
   */
  const streams: ForwardedStream[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isReported = false;

  const isAwaited = ({ client }: ForwardedStream): boolean =>
    client !== undefined && shares.isAwaited(client);

  /** The delayed streams whose connections others wait for, the slowest first. */
  function findAwaited(): { readonly stream: ForwardedStream; readonly isTooSlow: boolean }[] {
    const found = [];
    for (const stream of streams) {
      const { guarded } = stream;
      const moved = measure(stream);
      if (!guarded) continue;
      const times = guarded.timesAwaited;
      guarded.timesAwaited = 0;
      if (moved === undefined || !isAwaited(stream)) continue;
      guarded.timesAwaited = times + 1;
      found.push({
        stream,
        moved,
        isTooSlow: moved < (LEAST_AWAITED_STREAM_RATE * 2 ** times * windowMs) / 1000,
      });
    }
    return found.toSorted((one, other) => one.moved - other.moved);
  }

  function check(): void {
    if (!isReported && shares.isExhausted()) {
      isReported = true;
      onExhausted?.();
    }
    for (const { stream, isTooSlow } of findAwaited())
      if (isTooSlow && isAwaited(stream))
        stream.abort(`the ${findSlowEnd(stream)} was too slow while others waited`);
    if (shares.queueLength() > 0) return;
    clearInterval(timer);
    timer = undefined;
    isReported = false;
    for (const { guarded } of streams) if (guarded) guarded.timesAwaited = 0;
  }

  return {
    add(stream: ForwardedStream): void {
      stream.guarded = { place: streams.length, bytesBefore: undefined, timesAwaited: 0 };
      streams.push(stream);
    },
    remove(stream: ForwardedStream): void {
      const last = streams.at(-1);
      if (!stream.guarded || !last?.guarded) return;
      const { place } = stream.guarded;
      streams[place] = last;
      last.guarded.place = place;
      streams.pop();
      stream.guarded = undefined;
    },
    /** Call this when a client must wait. */
    start(): void {
      if (timer) return;
      for (const stream of streams) measure(stream);
      timer = setInterval(check, windowMs).unref();
    },
  };
}
