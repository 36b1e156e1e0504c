import { setTimeout as wait } from "node:timers/promises";
import { createClient, ErrorReply } from "@redis/client";
import { COUNT_REQUESTS, readText, readWindowCount, RedisReplyError } from "./redis-replies.ts";
import { isTimeout, withTimeout } from "./with-timeout.ts";

/** Prefix of all keys and channels: a Redis may serve other programs too. */
export const REDIS_PREFIX = "alpha-gateway:";

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
/** The keys of the rate limits, which {@link COUNT_REQUESTS} counts. */
export const LIMIT_PREFIX = `${REDIS_PREFIX}limit:`;
const PROBE = { keys: [`${LIMIT_PREFIX}probe`], arguments: ["1", String(SOCKET_TIMEOUT_MS / 1000)] };

/** How a Redis refuses to write that can be read: it is full, a replica, can't save, or has too few replicas. */
const CANNOT_WRITE = /^(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;

/** How long the start waits for Redis, and the shutdown for commands in flight. */
const START_MS = 1000;
const CLOSE_TIMEOUT_MS = 500;

/** Commands that wait for their response. */
const MAX_COMMANDS = 10_000;

/** Whether Redis is there, and did not do what a command says. */
export const isRejection = (error: unknown): error is Error =>
  error instanceof ErrorReply || error instanceof RedisReplyError;

type Client = ReturnType<typeof newClient>;

/** A connection to Redis that reconnects automatically, and whose commands time out soon. */
export interface RedisClient {
  /** Runs a command. @throws {Error} At once while Redis is away or has just timed out, and after half a second if it does not respond. */
  run<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Why Redis can't be used now: it does not respond, can't be written, or refuses a channel. */
  fault(): string | undefined;
  isReady(): boolean;
  /** Subscribes to a channel. `onMissed` is called each time that messages may have been missed. */
  subscribe(channel: string, onMessage: (message: string) => void, onMissed: () => void): void;
  close(): Promise<void>;
}

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

/** Connects to Redis. Resolves when Redis responds, or after a second; it keeps trying to connect in any case. */
export async function connectRedis({ url, onChange }: RedisOptions): Promise<RedisClient> {
  const client = newClient(url);
  const subscriptions: { start(): Promise<void>; onMissed(): void }[] = [];
  let isAway = false;
  let failures = 0;
  let isOpen = false;
  /** Why the last write failed, if Redis did respond. It can be read meanwhile. */
  let writeFault: string | undefined;
  /** Why Redis refuses a channel. */
  let channelFault: string | undefined;
  const closing = new AbortController();

  function report(reason: string | undefined): void {
    const wasAway = isAway;
    isAway = reason !== undefined;
    if (isAway !== wasAway && !closing.signal.aborted) onChange(reason);
  }

  /**
   * Opens the circuit: commands fail at once until Redis responds to a ping. After a timeout the first ping is sent at
   * once, and only if it fails is Redis reported as away: one late response is not an outage.
   */
  async function openCircuit({ message }: Error, isOutage: boolean): Promise<void> {
    if (isOpen) return;
    isOpen = true;
    let pause = isOutage;
    if (isOutage) report(message);
    while (!closing.signal.aborted) {
      if (pause) await wait(PROBE_MS, undefined, { ref: false });
      pause = true;
      const response = await withTimeout(client.ping(), COMMAND_MS).catch(() => undefined);
      if (response === undefined) {
        report(message);
        continue;
      }
      failures = 0;
      isOpen = false;
      return probeWrite();
    }
  }

  function noteWriteFault({ message }: Error): void {
    writeFault = message;
    report(message);
  }

  /**
   * A Redis that is full, or a replica, responds to pings, and one may permit writes and no scripts: the probe is what the
   * rate limits run.
   */
  async function probeWrite(): Promise<void> {
    try {
      await run(async (redis) => readWindowCount(await redis.eval(COUNT_REQUESTS, PROBE)));
      writeFault = undefined;
      report(channelFault);
    } catch (error) {
      if (isRejection(error)) noteWriteFault(error);
    }
  }

  async function probe(): Promise<void> {
    for (const { start } of subscriptions) await start();
    await probeWrite();
  }

  async function run<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (!client.isReady || isOpen) throw new Error("Redis is away");
    try {
      const result = await withTimeout(work(client), COMMAND_MS);
      failures = 0;
      return result;
    } catch (error) {
      // A Redis that responds with an error is there: only what it can't do fails.
      if (isRejection(error)) {
        failures = 0;
        if (CANNOT_WRITE.test(error.message)) noteWriteFault(error);
        throw error;
      }
      failures += 1;
      if (isTimeout(error)) void openCircuit(error, false);
      else if (failures === FAILURES) void openCircuit(error as Error, true);
      throw error;
    }
  }

  async function onReady(): Promise<void> {
    for (const { start, onMissed } of subscriptions) {
      await start();
      onMissed();
    }
    if (!isOpen) await probeWrite();
  }

  client.on("ready", () => void onReady());
  // Without a listener the first error would end the process.
  client.on("error", (error: Error) => report(error.message));
  const first = new Promise((resolve) => client.once("ready", resolve));
  client.connect().catch(() => {});
  await Promise.race([first, wait(START_MS, undefined, { ref: false })]);

  if (client.isReady) await probeWrite();
  const probes = setInterval(() => void probe(), WRITE_MS);
  probes.unref();

  function fault(): string | undefined {
    if (!client.isReady || (isOpen && isAway)) return "does not respond";
    if (writeFault !== undefined) return `can't be written (${writeFault})`;
    return channelFault === undefined ? undefined : `refuses a channel (${channelFault})`;
  }

  return {
    run,
    fault,
    isReady: () => fault() === undefined,
    subscribe(channel, onMessage, onMissed) {
      let isSubscribed = false;
      async function start(): Promise<void> {
        // The library subscribes again on each new connection.
        if (isSubscribed || !client.isReady) return;
        try {
          await client.subscribe(channel, (message) => onMessage(readText(message)));
          isSubscribed = true;
          channelFault = undefined;
        } catch (error) {
          if (!isRejection(error)) return;
          channelFault = error.message;
          report(channelFault);
        }
      }
      subscriptions.push({ start, onMissed });
      if (client.isReady) void start();
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      clearInterval(probes);
      if (client.isReady) await withTimeout(client.close(), CLOSE_TIMEOUT_MS).catch(() => {});
      if (client.isOpen) client.destroy();
    },
  };
}
