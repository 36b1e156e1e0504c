/** Clients that can't simply return: they have written to the new service, or have tokens that only the gateway knows. */
import { z } from "zod";
import type { ClientDirectory } from "../clients/client-directory.ts";
import { createSharedDocument, type DocumentStore } from "../storage/shared-document.ts";
import { namesOf, UNNAMED } from "./clients.ts";
import { commonEntries, entriesOf, type DirectoryEntries } from "./directory-entries.ts";

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
  /** The entries that all directories had in which clients without a name have written. Without such writes there is none. */
  readonly entries?: Readonly<Record<string, string | null>> | undefined;
}

/** What is new about a client since clients without a name have written: it may be one of them. */
export type NewInDirectory = "name" | "keys";

/** What replicas remember of clients that can't simply return. */
export interface NoWayBack {
  /** The writes of a client at the new service; undefined: none, or they don't matter. */
  writesOf(client: string): LostWrites | undefined;
  /**
   * Whether a client may have written before the directory knew it. Undefined: it has not, or nobody without a name has
   * written.
   */
  mayHaveWritten(client: string): NewInDirectory | undefined;
  /** All clients with such writes. */
  writers(): Readonly<Record<string, LostWrites>>;
  /** Clients with tokens of the gateway. */
  tokenClients(): readonly string[];
  /**
   * Counts a write. The first one of a client is stored before it is sent: resolves when it is. Where the store is down this
   * process remembers it.
   *
   * @param known The directory by which the client was called so
   */
  noteWrite(client: string, known: ClientDirectory): Promise<void> | undefined;
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
  entries: z.record(z.string(), z.string().nullable()).optional(),
});

const NOBODY: Clients = { writes: {}, tokens: [] };

/** What one process has noted since it last wrote. */
interface Noted {
  /** How often each client has written. */
  readonly writes: ReadonlyMap<string, number>;
  readonly tokens: ReadonlySet<string>;
  /** The entries of its directories in which clients without a name have written; undefined: none has. */
  readonly entries: DirectoryEntries | undefined;
}

const NOTHING: Noted = { writes: new Map(), tokens: new Set(), entries: undefined };

const readEntries = ({ entries }: Clients): DirectoryEntries | undefined =>
  entries && new Map(Object.entries(entries));

/** Writes the clients, with the entries if they are needed: clients without a name have written. */
function withEntries(
  { writes, tokens }: Omit<Clients, "entries">,
  entries: DirectoryEntries | undefined,
): Clients {
  const isNeeded = entries && Object.hasOwn(writes, UNNAMED);
  return { writes, tokens, ...(isNeeded && { entries: Object.fromEntries(entries) }) };
}

/** Adds what this process has noted to that of all. A write that was taken back is one less. */
function merge(before: Clients, noted: Noted, at: string): Clients {
  const merged = new Map(Object.entries(before.writes));
  for (const [client, count] of noted.writes) {
    const earlier = merged.get(client);
    const sum = (earlier?.count ?? 0) + count;
    if (sum <= 0) merged.delete(client);
    else if (earlier || merged.size < MAX_CLIENTS)
      merged.set(client, { count: sum, since: earlier?.since ?? at });
  }
  return withEntries(
    {
      writes: Object.fromEntries(merged),
      tokens: [...new Set([...before.tokens, ...noted.tokens])].slice(0, MAX_CLIENTS),
    },
    commonEntries(readEntries(before), noted.entries),
  );
}

/** Forgets the writes of a client, or of all. */
function withoutWrites(before: Clients, client: string | undefined, directory: ClientDirectory): Clients {
  const names = client === undefined ? Object.keys(before.writes) : namesOf(directory, client);
  const kept = Object.entries(before.writes).filter(([name]) => !names.includes(name));
  const entries = readEntries(before);
  const entry = client === undefined ? undefined : entriesOf(directory).get(client);
  // From here on the client counts as one that always had its name.
  const isNew = entries && client !== undefined && entry !== undefined && entries.get(client) !== entry;
  if (!isNew && kept.length === Object.keys(before.writes).length) return before;
  return withEntries(
    { writes: Object.fromEntries(kept), tokens: before.tokens },
    isNew ? new Map([...entries, [client, entry]]) : entries,
  );
}

export interface NoWayBackOptions {
  readonly store: DocumentStore;
  readonly directory: () => ClientDirectory;
  /** Called where a first write could not be stored. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Creates it. Nothing is read yet. */
export function createNoWayBack({ store, directory, onError, clock }: NoWayBackOptions): NoWayBack {
  let knownTokens: ReadonlySet<string> = new Set();
  let knownEntries: DirectoryEntries | undefined;
  const document = createSharedDocument(store, {
    key: KEY,
    schema,
    empty: NOBODY,
    onRead(stored) {
      knownTokens = new Set(stored.tokens);
      knownEntries = readEntries(stored);
    },
  });
  /** What is being written at the moment. */
  let sending = NOTHING;
  let writes = new Map<string, number>();
  let tokens = new Set<string>();
  let entries: DirectoryEntries | undefined;
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
    const taken = { writes, tokens, entries };
    sending = taken;
    writes = new Map();
    tokens = new Set();
    entries = undefined;
    try {
      await document.change((before) => merge(before, taken, new Date(clock()).toISOString()));
    } catch (error) {
      for (const [client, count] of taken.writes) add(client, count);
      for (const client of taken.tokens) tokens.add(client);
      entries = commonEntries(taken.entries, entries);
      throw error;
    } finally {
      sending = NOTHING;
    }
  }

  /** One at a time. What comes in while one is under way is in the next one. */
  function flush(): Promise<void> {
    const next = last.catch(() => {}).then(write);
    last = next;
    return next;
  }

  function writesUnder(name: string): LostWrites | undefined {
    const waiting = (writes.get(name) ?? 0) + (sending.writes.get(name) ?? 0);
    const stored = storedWrites(name);
    const count = (stored?.count ?? 0) + waiting;
    return count <= 0 ? undefined : { count, since: stored?.since ?? new Date(clock()).toISOString() };
  }

  return {
    writesOf: (client) =>
      namesOf(directory(), client)
        .map(writesUnder)
        .find((found) => found !== undefined),
    mayHaveWritten(client) {
      if (!writesUnder(UNNAMED)) return undefined;
      const entry = entriesOf(directory()).get(client);
      if (entry === undefined) return undefined;
      const earlier = [knownEntries, sending.entries, entries].filter((each) => each !== undefined);
      if (!earlier.every((each) => each.has(client))) return "name";
      return earlier.every((each) => each.get(client) === entry) ? undefined : "keys";
    },
    writers: () => document.current().writes,
    tokenClients: () => document.current().tokens,
    noteWrite(client, known) {
      if (client === UNNAMED) entries = commonEntries(entries, entriesOf(known));
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
      await document.change((before) => withoutWrites(before, client, directory()));
    },
    refresh: document.refresh,
    flush,
  };
}
