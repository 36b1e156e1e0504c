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
   * State of the guard: the bytes at the last check, and the number of consecutive checks at which a client waited for
   * the connection.
   */
  guarded: { bytesBefore: number | undefined; timesAwaited: number };
  /** The client whose share includes the stream's connection. */
  readonly client: ShareClient | undefined;
  /** Ends the stream. */
  abort(reason: string): void;
}

/** Ends streams that are too slow while clients wait for their connections. */
export type SlowStreamGuard = ReturnType<typeof createSlowStreamGuard>;

/**
 * The end that delays a stream. Undefined before the first byte of the response, because the upstream has its own time
 * limit.
 */
function findSlowEnd({ request, response, isComplete }: ForwardedStream): "client" | "upstream" | undefined {
  if (!request.complete || response.writableNeedDrain) return "client";
  return response.headersSent && !isComplete ? "upstream" : undefined;
}

/** Records the progress of a stream while one end delays it. Returns the bytes since the last check. */
function measure(stream: ForwardedStream): number | undefined {
  const { bytesIn, bytesOut, guarded } = stream;
  const { bytesBefore } = guarded;
  guarded.bytesBefore = findSlowEnd(stream) && bytesIn + bytesOut;
  return guarded.bytesBefore === undefined || bytesBefore === undefined
    ? undefined
    : guarded.bytesBefore - bytesBefore;
}

interface SlowStreamGuardOptions {
  /** The connections of the streams. */
  readonly shares: Pick<ConnectionShares, "isAwaited" | "isExhausted" | "queueLength">;
  /** Milliseconds between two checks. */
  readonly windowMs: number;
  /** Called once if a check finds that all connections are in use, until no client waits any more. */
  readonly onExhausted: (() => void) | undefined;
}

/**
 * Creates the guard. A stream is only ended if a waiting client would get its connection. A client that waits for its
 * own share must not end the streams of other clients. The slowest streams end first, at most one for each waiting
 * client. The minimum rate grows while clients wait, so that no stream can keep its connection forever.
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

  /** Returns the streams that are too slow while clients wait for their connections, the slowest first. */
  function findTooSlow(): readonly ForwardedStream[] {
    const found: { readonly stream: ForwardedStream; readonly moved: number }[] = [];
    for (const stream of streams) {
      const moved = measure(stream);
      const { guarded } = stream;
      const times = guarded.timesAwaited;
      guarded.timesAwaited = moved !== undefined && isAwaited(stream) ? times + 1 : 0;
      const least = (LEAST_AWAITED_STREAM_RATE * 2 ** times * windowMs) / 1000;
      if (moved !== undefined && guarded.timesAwaited > 0 && moved < least) found.push({ stream, moved });
    }
    return found.toSorted((one, other) => one.moved - other.moved).map(({ stream }) => stream);
  }

  function check(): void {
    if (!isReported && shares.isExhausted()) {
      isReported = true;
      onExhausted?.();
    }
    for (const stream of findTooSlow())
      if (isAwaited(stream)) stream.abort(`the ${findSlowEnd(stream)} was too slow while others waited`);
    if (shares.queueLength() > 0) return;
    clearInterval(timer);
    timer = undefined;
    isReported = false;
    for (const { guarded } of streams) guarded.timesAwaited = 0;
  }

  return {
    add: (stream: ForwardedStream): void => void streams.push(stream),
    remove(stream: ForwardedStream): void {
      const place = streams.indexOf(stream);
      if (place >= 0) streams.splice(place, 1);
    },
    /** Starts the checks. Call this when a client must wait. */
    start(): void {
      if (timer) return;
      for (const stream of streams) measure(stream);
      timer = setInterval(check, windowMs).unref();
    },
  };
}
