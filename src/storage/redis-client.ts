import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@redis/client";
import { isTimeout, withTimeout } from "./with-timeout.ts";

/** Begins every key and channel: a Redis may serve others too. */
export const REDIS_PREFIX = "alpha-gateway:";

/** Timeout of a command. A request waits for it, and can continue without Redis. */
const COMMAND_MS = 500;

/** Failed commands in a row that open the circuit. A timeout opens it at once: the next commands would wait as long. */
const FAILURES = 3;
/** Pause between two pings while the circuit is open. */
const PROBE_MS = 500;

/** Longer than the pause between two heartbeats: a connection that brings nothing at all is dead. */
const SILENCE_MS = 10_000;
/** How often Redis is pinged: a process that serves no requests sends nothing else. */
const PING_MS = 3000;

/** How long the start waits for Redis, and the end for what was still asked of it. */
const START_MS = 1000;
const LAST_WORD_MS = 500;

const MOST_COMMANDS = 10_000;

type Client = ReturnType<typeof newClient>;

/** A connection to Redis that comes back by itself, and that nobody waits for long. */
export interface RedisClient {
  /** @throws {Error} At once while Redis is away or has just timed out, and after half a second if it does not respond. */
  run<T>(work: (client: Client) => Promise<T>): Promise<T>;
  ready(): boolean;
  /** Hears what is published on a channel; `missed` runs each time that messages may have been missed. */
  subscribe(channel: string, hear: (message: string) => void, missed: () => void): void;
  close(): Promise<void>;
}

export interface RedisOptions {
  /** `redis://` or, over TLS, `rediss://`: `rediss://user:password@host:port/database`. */
  readonly url: string;
  /** Hears of each outage once, and of its end with undefined. */
  readonly onChange: (fault: string | undefined) => void;
}

/** Doubles up to two seconds, and scatters, so that replicas don't come back all at once. */
const reconnectAfter = (retries: number): number =>
  Math.min(100 * 2 ** Math.min(retries, 5), 2000) * (0.5 + Math.random() / 2);

const newClient = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MOST_COMMANDS,
    // The library's own ends when a command is written, which a Redis that hangs lets happen.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: 2000, socketTimeout: SILENCE_MS, reconnectStrategy: reconnectAfter },
  });

/** Connects. Resolves when Redis answers, or after a second; whatever comes, it is tried again and again. */
export async function connectRedis({ url, onChange }: RedisOptions): Promise<RedisClient> {
  const client = newClient(url);
  const subscriptions: { begin(): Promise<void>; missed(): void }[] = [];
  let away = false;
  let failures = 0;
  let isOpen = false;
  const end = new AbortController();

  function change(fault: string | undefined): void {
    const was = away;
    away = fault !== undefined;
    if (away !== was && !end.signal.aborted) onChange(fault);
  }

  /**
   * Opens the circuit: commands fail at once until Redis responds to a ping. After a timeout the first ping is sent at
   * once, and only if it fails is Redis reported as away: one late response is not an outage.
   */
  async function openCircuit({ message }: Error, isAway: boolean): Promise<void> {
    if (isOpen) return;
    isOpen = true;
    let pause = isAway;
    if (isAway) change(message);
    while (!end.signal.aborted) {
      if (pause) await wait(PROBE_MS, undefined, { ref: false });
      pause = true;
      const response = await withTimeout(client.ping(), COMMAND_MS).catch(() => undefined);
      if (response === undefined) {
        change(message);
        continue;
      }
      failures = 0;
      isOpen = false;
      return change(undefined);
    }
  }

  async function run<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (!client.isReady || isOpen) throw new Error("Redis is away");
    try {
      const result = await withTimeout(work(client), COMMAND_MS);
      failures = 0;
      return result;
    } catch (error) {
      failures += 1;
      if (isTimeout(error)) void openCircuit(error, false);
      else if (failures === FAILURES) void openCircuit(error as Error, true);
      throw error;
    }
  }

  async function returned(): Promise<void> {
    for (const { begin, missed } of subscriptions) {
      await begin();
      missed();
    }
    if (!isOpen) change(undefined);
  }

  client.on("ready", () => void returned());
  // Without a listener the first error would end the process.
  client.on("error", (error: Error) => change(error.message));
  const first = new Promise((resolve) => client.once("ready", resolve));
  client.connect().catch(() => {});
  await Promise.race([first, wait(START_MS, undefined, { ref: false })]);

  const pings = setInterval(() => void run((redis) => redis.ping()).catch(() => {}), PING_MS);
  pings.unref();

  return {
    run,
    ready: () => client.isReady && !(isOpen && away),
    subscribe(channel, hear, missed) {
      let subscribed = false;
      async function begin(): Promise<void> {
        // Once it has begun, the library begins it again on each new connection.
        if (!subscribed)
          await client.subscribe(channel, hear).then(
            () => (subscribed = true),
            () => {},
          );
      }
      subscriptions.push({ begin, missed });
      if (client.isReady) void begin();
    },
    async close() {
      if (end.signal.aborted) return;
      end.abort();
      clearInterval(pings);
      if (client.isReady) await withTimeout(client.close(), LAST_WORD_MS).catch(() => {});
      if (client.isOpen) client.destroy();
    },
  };
}
