import { setTimeout as wait } from "node:timers/promises";
import { createClient, ErrorReply } from "@redis/client";
import { COUNT_REQUESTS, LIMIT_PREFIX, readText, readWindowCount, RedisReplyError } from "./redis-replies.ts";

/** Timeout of a command. A request waits for it, and can continue without Redis. */
const COMMAND_MS = 500;

/** Failed commands in a row that open the circuit. A timeout opens it at once: the next commands would wait as long. */
const FAILURES = 3;
/** Pause between two pings while the circuit is open. */
const PROBE_MS = 500;

/** A connection without any data for this long is broken. Longer than the pause between two pings. */
const SOCKET_TIMEOUT_MS = 10_000;
/** Pause between two writes that probe Redis: a process that serves no requests sends nothing else. */
const WRITE_MS = 3000;
const PROBE = { keys: [`${LIMIT_PREFIX}probe`], arguments: ["1", String(SOCKET_TIMEOUT_MS / 1000)] };

/** How a Redis refuses to write that can be read: it is full, a replica, can't save, or has too few replicas. */
const CANNOT_WRITE = /^(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;

/** How long the start waits for Redis, and the shutdown for commands in flight. */
const START_MS = 1000;
const CLOSE_TIMEOUT_MS = 500;

/** Commands that wait for their response. */
const MAX_COMMANDS = 10_000;

/** Whether Redis responded without executing a command. */
export const isRejection = (error: unknown): error is Error =>
  error instanceof ErrorReply || error instanceof RedisReplyError;

type Client = ReturnType<typeof newClient>;

export interface RedisOptions {
  /** `redis://` or, over TLS, `rediss://`: `rediss://user:password@host:port/database`. */
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
    // The library's time-out ends when a command was sent, so it does not notice a Redis that hangs.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: 2000, socketTimeout: SOCKET_TIMEOUT_MS, reconnectStrategy: reconnectAfter },
  });

interface Subscription {
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  readonly onMissed: () => void;
  isActive: boolean;
}

/** A connection to Redis that reconnects automatically, and whose commands time out soon. */
export class RedisClient {
  readonly #client: Client;
  readonly #onChange: RedisOptions["onChange"];
  readonly #subscriptions: Subscription[] = [];
  readonly #closing = new AbortController();
  #probes: NodeJS.Timeout | undefined;
  #isAway = false;
  #failures = 0;
  #isCircuitOpen = false;
  /** Why the last write failed, if Redis did respond. It can be read meanwhile. */
  #writeFault: string | undefined;
  /** Why Redis refuses a channel. */
  #channelFault: string | undefined;

  constructor({ url, onChange }: RedisOptions) {
    this.#client = newClient(url);
    this.#onChange = onChange;
    this.#client.on("ready", () => void this.#onReady());
    // Without a listener the first error would end the process.
    this.#client.on("error", (error: Error) => this.#report(error.message));
  }

  /** Resolves when Redis responds, or after a second. */
  async connect(): Promise<void> {
    const first = new Promise((resolve) => this.#client.once("ready", resolve));
    this.#client.connect().catch(() => {});
    await Promise.race([first, wait(START_MS, undefined, { ref: false })]);
    if (this.#client.isReady) await this.#probeWrite();
    this.#probes = setInterval(() => void this.#probe(), WRITE_MS).unref();
  }

  /** Runs a command. @throws {Error} At once while Redis is away or has just timed out, and after half a second if it does not respond. */
  async run<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (!this.#client.isReady || this.#isCircuitOpen) throw new Error("Redis is away");
    try {
      const result = await withTimeout(work(this.#client), COMMAND_MS);
      this.#failures = 0;
      return result;
    } catch (error) {
      // A Redis that responds with an error is available. Only the failed command is affected.
      if (isRejection(error)) {
        this.#failures = 0;
        if (CANNOT_WRITE.test(error.message)) this.#noteWriteFault(error);
        throw error;
      }
      this.#failures += 1;
      if (isTimeout(error)) void this.#openCircuit(error, false);
      else if (this.#failures === FAILURES) void this.#openCircuit(error as Error, true);
      throw error;
    }
  }

  /** Why Redis can't be used now: it does not respond, can't be written, or refuses a channel. */
  fault(): string | undefined {
    if (!this.#client.isReady || (this.#isCircuitOpen && this.#isAway)) return "does not respond";
    if (this.#writeFault !== undefined) return `can't be written (${this.#writeFault})`;
    return this.#channelFault === undefined ? undefined : `refuses a channel (${this.#channelFault})`;
  }

  isReady(): boolean {
    return this.fault() === undefined;
  }

  /** Subscribes to a channel. `onMissed` is called each time that messages may have been missed. */
  subscribe(channel: string, onMessage: (message: string) => void, onMissed: () => void): void {
    const subscription = { channel, onMessage, onMissed, isActive: false };
    this.#subscriptions.push(subscription);
    if (this.#client.isReady) void this.#activate(subscription);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    clearInterval(this.#probes);
    if (this.#client.isReady) await withTimeout(this.#client.close(), CLOSE_TIMEOUT_MS).catch(() => {});
    if (this.#client.isOpen) this.#client.destroy();
  }

  #report(reason: string | undefined): void {
    const wasAway = this.#isAway;
    this.#isAway = reason !== undefined;
    if (this.#isAway !== wasAway && !this.#closing.signal.aborted) this.#onChange(reason);
  }

  /**
   * Opens the circuit: commands fail at once until Redis responds to a ping. After a timeout the first ping is sent at
   * once, and only if it fails is Redis reported as away: one late response is not an outage.
   */
  async #openCircuit({ message }: Error, isOutage: boolean): Promise<void> {
    if (this.#isCircuitOpen) return;
    this.#isCircuitOpen = true;
    let pause = isOutage;
    if (isOutage) this.#report(message);
    while (!this.#closing.signal.aborted) {
      if (pause) await wait(PROBE_MS, undefined, { ref: false });
      pause = true;
      const response = await withTimeout(this.#client.ping(), COMMAND_MS).catch(() => undefined);
      if (response === undefined) {
        this.#report(message);
        continue;
      }
      this.#failures = 0;
      this.#isCircuitOpen = false;
      return this.#probeWrite();
    }
  }

  #noteWriteFault({ message }: Error): void {
    this.#writeFault = message;
    this.#report(message);
  }

  /**
   * A full Redis and a replica respond to pings, and a Redis may permit writes and no scripts. So the probe is the
   * script of the rate limits.
   */
  async #probeWrite(): Promise<void> {
    try {
      await this.run(async (redis) => readWindowCount(await redis.eval(COUNT_REQUESTS, PROBE)));
      this.#writeFault = undefined;
      this.#report(this.#channelFault);
    } catch (error) {
      if (isRejection(error)) this.#noteWriteFault(error);
    }
  }

  async #probe(): Promise<void> {
    for (const subscription of this.#subscriptions) await this.#activate(subscription);
    await this.#probeWrite();
  }

  async #onReady(): Promise<void> {
    for (const subscription of this.#subscriptions) {
      await this.#activate(subscription);
      subscription.onMissed();
    }
    if (!this.#isCircuitOpen) await this.#probeWrite();
  }

  async #activate(subscription: Subscription): Promise<void> {
    // The library subscribes again on each new connection.
    if (subscription.isActive || !this.#client.isReady) return;
    try {
      await this.#client.subscribe(subscription.channel, (message) =>
        subscription.onMessage(readText(message)),
      );
      subscription.isActive = true;
      this.#channelFault = undefined;
    } catch (error) {
      if (!isRejection(error)) return;
      this.#channelFault = error.message;
      this.#report(error.message);
    }
  }
}

/** Connects to Redis. Resolves when Redis responds, or after a second; it keeps trying to connect in any case. */
export async function connectRedis(options: RedisOptions): Promise<RedisClient> {
  const redis = new RedisClient(options);
  await redis.connect();
  return redis;
}

class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** Whether an error says that {@link withTimeout} did not wait any longer. */
export const isTimeout = (error: unknown): error is Error => error instanceof TimeoutError;

/**
 * Waits for work for at most `timeoutMs` milliseconds. A later result is dropped. A result that arrived while this process
 * was busy counts as in time.
 *
 * @throws {Error} If the work takes longer.
 */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
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
