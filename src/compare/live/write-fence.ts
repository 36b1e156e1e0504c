/** Records which clients write, and when they last wrote: a response that was read during a write proves nothing. */
import { ClientRoom } from "../answers/client-room.ts";
import type { ReportFull } from "../counts/add-counts.ts";

/** A read for a comparison. */
export interface Reading {
  /** Whether the client has started no write since. */
  isValid(): boolean;
  /** Must be called once, when the comparison has ended. */
  leave(): void;
}

/** The requests of one client that are in flight. */
interface Client {
  writes: number;
  readonly readings: Set<{ isVoid: boolean }>;
}

/** A completed write that may not be visible in all services yet. */
interface YoungWrite {
  /** The end of the write in milliseconds, by the clock. */
  readonly endedAt: number;
  readonly owner: string;
}

/** Maximum number of stored young writes. The number of writes and reads in flight is limited by the number of requests. */
const MAX_YOUNG = 20_000;

interface WriteFenceOptions {
  /** Returns the milliseconds until a write is visible in both services. */
  readonly lagMs: () => number;
  /** Called for young writes for which there is no room: comparisons of their clients may find differences. */
  readonly onFull: ReportFull;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/**
 * Separates comparisons from writes of the same client: a response that was read before a write differs from one that
 * was read after it.
 */
export class WriteFence {
  readonly #lagMs: () => number;
  readonly #onFull: ReportFull;
  readonly #clock: () => number;
  readonly #clients = new Map<string, Client>();
  /** The young writes, the oldest first. */
  readonly #young = new Map<string, YoungWrite>();
  readonly #youngOf = new ClientRoom(MAX_YOUNG);

  constructor({ lagMs, onFull, clock = Date.now }: WriteFenceOptions) {
    this.#lagMs = lagMs;
    this.#onFull = onFull;
    this.#clock = clock;
  }

  /** Number of clients' names with stored writes. */
  get size(): number {
    return this.#clients.size + this.#young.size;
  }

  /**
   * Records the start of a client's write.
   *
   * @param names all names under which reads of this client may appear
   * @param owner the client whose share of the store is used
   * @returns a function to call once, when the write has ended
   */
  begin(names: readonly string[], owner: string): () => void {
    for (const name of names) {
      const client = this.#open(name);
      client.writes += 1;
      for (const reading of client.readings) reading.isVoid = true;
    }
    return () => {
      for (const name of names) {
        this.#open(name).writes -= 1;
        this.#closeIdle(name);
        this.#remember(name, owner);
      }
    };
  }

  /** Whether no write of a client is in flight or too recent. */
  isQuiet(names: readonly string[]): boolean {
    return names.every((name) => {
      const { endedAt = -Infinity } = this.#young.get(name) ?? {};
      return (this.#clients.get(name)?.writes ?? 0) === 0 && this.#clock() - endedAt >= this.#lagMs();
    });
  }

  /** Starts a read for a comparison. @returns undefined if a write of the client is in flight or too recent */
  enter(names: readonly string[]): Reading | undefined {
    if (!this.isQuiet(names)) return undefined;
    const reading = { isVoid: false };
    for (const name of names) this.#open(name).readings.add(reading);
    return {
      isValid: () => !reading.isVoid,
      leave: () => {
        for (const name of names) {
          this.#clients.get(name)?.readings.delete(reading);
          this.#closeIdle(name);
        }
      },
    };
  }

  #open(name: string): Client {
    const found = this.#clients.get(name);
    if (found) return found;
    const created: Client = { writes: 0, readings: new Set() };
    this.#clients.set(name, created);
    return created;
  }

  #closeIdle(name: string): void {
    const client = this.#clients.get(name);
    if (client && client.writes === 0 && client.readings.size === 0) this.#clients.delete(name);
  }

  #remember(name: string, owner: string): void {
    this.#forget(name);
    const lag = this.#lagMs();
    const now = this.#clock();
    for (const [oldest, { endedAt }] of this.#young) {
      if (now - endedAt < lag) break;
      this.#forget(oldest);
    }
    if (lag === 0) return;
    if (!this.#youngOf.tryTake(owner)) return this.#onFull("writes");
    this.#young.set(name, { endedAt: now, owner });
  }

  #forget(name: string): void {
    const write = this.#young.get(name);
    if (!write) return;
    this.#young.delete(name);
    this.#youngOf.giveBack(write.owner);
  }
}
