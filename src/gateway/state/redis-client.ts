import { setTimeout as wait } from "node:timers/promises";
import { createClient, ErrorReply } from "@redis/client";
import {
  COUNT_REQUESTS,
  LIMIT_PREFIX,
  readReply,
  RedisReplyError,
  TEXT,
  WINDOW_COUNT,
} from "./redis-replies.ts";

/** Timeout of a command. A request waits for it, and can continue without Redis. */
const COMMAND_MS = 500;

/** Milliseconds between two probes while Redis does not respond. */
const PROBE_MS = 500;
/** Milliseconds between two probes while Redis responds: a process that serves no requests sends no other commands. */
const WRITE_MS = 3000;

/** Milliseconds without any data after which a connection is treated as broken. Longer than the pause between two probes. */
const SOCKET_TIMEOUT_MS = 10_000;
const PROBE = { keys: [`${LIMIT_PREFIX}probe`], arguments: ["1", String(SOCKET_TIMEOUT_MS / 1000)] };

/**
 * Matches the errors of a Redis that can be read but not written: it is full, a replica, can't save, or has too few
 * replicas.
 */
const CANNOT_WRITE = /^(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;

/** Maximum waiting time in milliseconds: of the start for Redis, and of the shutdown for commands in flight. */
const START_MS = 1000;
const CLOSE_TIMEOUT_MS = 500;

/** Maximum number of commands that wait for their response. */
const MAX_COMMANDS = 10_000;

/** Whether Redis responded without executing a command. */
export const isRejection = (error: unknown): error is Error =>
  error instanceof ErrorReply || error instanceof RedisReplyError;

type Client = ReturnType<typeof newClient>;

interface RedisOptions {
  /** The address, `redis://` or, over TLS, `rediss://`: `rediss://user:password@host:port/database`. */
  readonly url: string;
  /** Called once for each outage with its reason, and at its end with undefined. */
  readonly onChange: (reason: string | undefined) => void;
}

/** Backoff with jitter, up to two seconds: replicas must not reconnect at the same time. */
const reconnectAfter = (retries: number): number =>
  Math.min(100 * 2 ** Math.min(retries, 5), 2000) * (0.5 + Math.random() / 2);

const newClient = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    // The library's time-out ends when a command was sent, so it does not detect a Redis that hangs.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: 2000, socketTimeout: SOCKET_TIMEOUT_MS, reconnectStrategy: reconnectAfter },
  });

interface Subscription {
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  readonly onMissed: () => void;
  isActive: boolean;
}

/** The kinds of faults: Redis does not respond; it can be read but not written; it refuses a channel. */
type FaultKind = "outage" | "write" | "channel";

/** A connection to Redis that reconnects automatically, and whose commands time out soon. */
export class RedisClient {
  readonly #client: Client;
  readonly #onChange: RedisOptions["onChange"];
  readonly #subscriptions: Subscription[] = [];
  readonly #faults = new Map<FaultKind, string>();
  /** Whether a command has timed out since Redis last responded. The next commands would wait as long. */
  #isHanging = false;
  #isFaultReported = false;
  #isClosed = false;
  #probeInFlight: Promise<void> | undefined;
  #nextProbe: NodeJS.Timeout | undefined;

  constructor({ url, onChange }: RedisOptions) {
    this.#client = newClient(url);
    this.#onChange = onChange;
    this.#client.on("ready", () => void this.#onReady());
    // Without a listener, the first error would end the process.
    this.#client.on("error", (error: Error) => this.#note("outage", error.message));
  }

  /** Resolves when Redis responds, or after a second. */
  async connect(): Promise<void> {
    const first = new Promise((resolve) => this.#client.once("ready", resolve));
    this.#client.connect().catch(() => {});
    await Promise.race([first, wait(START_MS, undefined, { ref: false })]);
    await this.#probe();
  }

  /**
   * Runs a command. @throws {Error} immediately while Redis is unavailable or has just timed out, and after half a
   * second if it does not respond.
   */
  async run<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (!this.#client.isReady || this.#isHanging) throw new Error("Redis is away");
    try {
      return await withTimeout(work(this.#client), COMMAND_MS);
    } catch (error) {
      // A Redis that responds with an error is available. Only the failed command is affected.
      if (isRejection(error) && CANNOT_WRITE.test(error.message)) this.#note("write", error.message);
      if (error instanceof TimeoutError) {
        this.#isHanging = true;
        void this.#probe();
      }
      throw error;
    }
  }

  /** Returns why Redis can't be used now: it does not respond, can't be written, or refuses a channel. */
  fault(): string | undefined {
    if (!this.#client.isReady || this.#faults.has("outage")) return "does not respond";
    const [write, channel] = [this.#faults.get("write"), this.#faults.get("channel")];
    if (write !== undefined) return `can't be written (${write})`;
    return channel === undefined ? undefined : `refuses a channel (${channel})`;
  }

  isReady(): boolean {
    return this.fault() === undefined;
  }

  /** Subscribes to a channel. `onMissed` is called after each interval in which messages may have been missed. */
  subscribe(channel: string, onMessage: (message: string) => void, onMissed: () => void): void {
    const subscription = { channel, onMessage, onMissed, isActive: false };
    this.#subscriptions.push(subscription);
    void this.#activate(subscription);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#nextProbe);
    if (this.#client.isReady) await withTimeout(this.#client.close(), CLOSE_TIMEOUT_MS).catch(() => {});
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** Records a fault, or its end, and reports the first fault and the end of the last one. */
  #note(kind: FaultKind, reason: string | undefined): void {
    if (reason === undefined) this.#faults.delete(kind);
    else this.#faults.set(kind, reason);
    const isFault = this.#faults.size > 0;
    if (isFault === this.#isFaultReported || this.#isClosed) return;
    this.#isFaultReported = isFault;
    this.#onChange(reason);
  }

  /**
   * Checks whether Redis responds, and can be written. Concurrent calls share one probe. The next probe follows after a
   * pause.
   */
  #probe(): Promise<void> {
    clearTimeout(this.#nextProbe);
    return (this.#probeInFlight ??= this.#probeOnce().finally(() => {
      this.#probeInFlight = undefined;
      if (this.#isClosed) return;
      const pause = this.#isHanging ? PROBE_MS : WRITE_MS;
      this.#nextProbe = setTimeout(() => void this.#probe(), pause).unref();
    }));
  }

  /**
   * A full Redis and a replica respond to pings, and a Redis may permit writes and no scripts. So the probe is the
   * script of the rate limits.
   */
  async #probeOnce(): Promise<void> {
    if (!this.#client.isReady) return;
    let fault: string | undefined;
    try {
      readReply(WINDOW_COUNT, await withTimeout(this.#client.eval(COUNT_REQUESTS, PROBE), COMMAND_MS));
    } catch (error) {
      if (!isRejection(error)) {
        // One late response is not an outage.
        if (this.#isHanging) this.#note("outage", (error as Error).message);
        this.#isHanging = true;
        return;
      }
      fault = error.message;
    }
    this.#isHanging = false;
    this.#note("write", fault);
    this.#note("outage", undefined);
    for (const subscription of this.#subscriptions) void this.#activate(subscription);
  }

  async #onReady(): Promise<void> {
    for (const subscription of this.#subscriptions) {
      await this.#activate(subscription);
      subscription.onMissed();
    }
    await this.#probe();
  }

  async #activate(subscription: Subscription): Promise<void> {
    // The library subscribes again on each new connection.
    if (subscription.isActive || !this.#client.isReady) return;
    try {
      await this.#client.subscribe(subscription.channel, (message) =>
        subscription.onMessage(readReply(TEXT, message)),
      );
      subscription.isActive = true;
      this.#note("channel", undefined);
    } catch (error) {
      if (isRejection(error)) this.#note("channel", error.message);
    }
  }
}

/** Connects to Redis. Resolves when Redis responds, or after a second; it continues to try to connect in any case. */
export async function connectRedis(options: RedisOptions): Promise<RedisClient> {
  const redis = new RedisClient(options);
  await redis.connect();
  return redis;
}

/** The time-out of {@link withTimeout}. */
class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/**
 * Waits for work for at most `timeoutMs` milliseconds. A later result is dropped. A result that arrived while this
 * process was busy is in time.
 *
 * @throws {Error} If the work takes longer.
 */
async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // Sockets are read between timers and immediates.
    const onTimeout = () =>
      setImmediate(() => reject(new TimeoutError(`no response within ${timeoutMs} ms`)));
    timer = setTimeout(onTimeout, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
