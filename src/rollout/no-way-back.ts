/** Clients that can't simply return: they have written to the new service, or have tokens that only the gateway knows. */
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../storage/shared-document.ts";

/** What a client would lose if it returned. */
export interface LostWrites {
  readonly count: number;
  /** When the first one came: ISO 8601, UTC. */
  readonly since: string;
}

interface Clients {
  readonly writes: Readonly<Record<string, LostWrites>>;
  /** Clients with tokens that the gateway has issued. */
  readonly tokens: readonly string[];
}

/** What replicas remember of clients that can't simply return. */
export interface NoWayBack {
  /** The writes of a client at the new service; undefined: none, or they don't matter. */
  writesOf(client: string): LostWrites | undefined;
  /** All clients with such writes. */
  writers(): Readonly<Record<string, LostWrites>>;
  /** Clients with tokens of the gateway. */
  tokenClients(): readonly string[];
  /**
   * Counts a write. The first one of a client is stored before it is sent: resolves when it is. Where the store is down this
   * process remembers it.
   */
  noteWrite(client: string): Promise<void> | undefined;
  /** Takes back a write that the service has not done. */
  takeBackWrite(client: string): void;
  /** Notes that a client uses a token that the gateway issued. */
  noteToken(client: string): void;
  /** Forgets the writes of a client, or of all: it returns without them. @throws {StateUnavailableError} */
  forgetWrites(client: string | undefined): Promise<void>;
  /** Reads what replicas have noted. @throws {StateUnavailableError} */
  refresh(): Promise<void>;
  /** Writes what waits. @throws {StateUnavailableError} */
  flush(): Promise<void>;
}

const KEY = "rollout:clients";
/** A client directory has half of it. */
const MAX_CLIENTS = 2000;

const schema: z.ZodType<Clients> = z.object({
  writes: z.record(z.string(), z.object({ count: z.number(), since: z.iso.datetime() })),
  tokens: z.array(z.string()),
});

const NOBODY: Clients = { writes: {}, tokens: [] };

/** Adds the writes and tokens of this process to those of all. A write that was taken back is one less. */
function merge(
  { writes, tokens }: Clients,
  newWrites: ReadonlyMap<string, number>,
  newTokens: ReadonlySet<string>,
  at: string,
): Clients {
  const merged = new Map(Object.entries(writes));
  for (const [client, count] of newWrites) {
    const before = merged.get(client);
    const sum = (before?.count ?? 0) + count;
    if (sum <= 0) merged.delete(client);
    else if (before || merged.size < MAX_CLIENTS)
      merged.set(client, { count: sum, since: before?.since ?? at });
  }
  return {
    writes: Object.fromEntries(merged),
    tokens: [...new Set([...tokens, ...newTokens])].slice(0, MAX_CLIENTS),
  };
}

/** @param onError Called where a first write could not be stored. */
export function createNoWayBack(
  store: DocumentStore,
  onError: (error: unknown) => void = () => {},
  clock: () => number = Date.now,
): NoWayBack {
  let knownTokens: ReadonlySet<string> = new Set();
  const document = createSharedDocument(store, {
    key: KEY,
    schema,
    empty: NOBODY,
    onRead: ({ tokens: stored }) => (knownTokens = new Set(stored)),
  });
  /** What is being written at the moment. */
  let sending: ReadonlyMap<string, number> = new Map();
  let writes = new Map<string, number>();
  let tokens = new Set<string>();
  let last = Promise.resolve();

  const storedWrites = (client: string): LostWrites | undefined => {
    const { writes: stored } = document.current();
    return Object.hasOwn(stored, client) ? stored[client] : undefined;
  };

  function add(client: string, count: number): void {
    writes.set(client, (writes.get(client) ?? 0) + count);
  }

  async function write(): Promise<void> {
    if (writes.size === 0 && tokens.size === 0) return;
    const [taken, takenTokens] = [writes, tokens];
    sending = taken;
    writes = new Map();
    tokens = new Set();
    try {
      await document.change((before) => merge(before, taken, takenTokens, new Date(clock()).toISOString()));
    } catch (error) {
      for (const [client, count] of taken) add(client, count);
      for (const client of takenTokens) tokens.add(client);
      throw error;
    } finally {
      sending = new Map();
    }
  }

  /** One at a time. What comes in while one is under way is in the next one. */
  function flush(): Promise<void> {
    const next = last.catch(() => {}).then(write);
    last = next;
    return next;
  }

  return {
    writesOf(client) {
      const waiting = (writes.get(client) ?? 0) + (sending.get(client) ?? 0);
      const stored = storedWrites(client);
      const count = (stored?.count ?? 0) + waiting;
      return count <= 0 ? undefined : { count, since: stored?.since ?? new Date(clock()).toISOString() };
    },
    writers: () => document.current().writes,
    tokenClients: () => document.current().tokens,
    noteWrite(client) {
      const isFirst = storedWrites(client) === undefined;
      if (isFirst && !writes.has(client) && writes.size >= MAX_CLIENTS) return undefined;
      add(client, 1);
      return isFirst ? flush().catch(onError) : undefined;
    },
    takeBackWrite: (client) => add(client, -1),
    noteToken(client) {
      if (knownTokens.has(client) || tokens.size >= MAX_CLIENTS) return;
      tokens.add(client);
    },
    async forgetWrites(client) {
      await flush();
      await document.change((before) => {
        const kept = Object.entries(before.writes).filter(
          ([name]) => client !== undefined && name !== client,
        );
        return kept.length === Object.keys(before.writes).length
          ? before
          : { ...before, writes: Object.fromEntries(kept) };
      });
    },
    refresh: document.refresh,
    flush,
  };
}
