/** Which clients write, and when they wrote last: an answer that was read while its client wrote says nothing. */
import { ClientRoom } from "../answers/client-room.ts";
import type { ReportFull } from "../counts/waiting-results.ts";

/** A read for a comparison. */
export interface Reading {
  /** Whether no write of its client has begun since. */
  isValid(): boolean;
  /** To be called once, when the comparison has ended. */
  leave(): void;
}

/** The requests of one client that are in flight. */
interface Client {
  writes: number;
  readonly readings: Set<{ isVoid: boolean }>;
}

/** A write that has ended, and that not all services may show yet. */
interface YoungWrite {
  /** Milliseconds, by the clock. */
  readonly endedAt: number;
  readonly owner: string;
}

/** Young writes that are remembered. Writes and readings under way are as many as requests. */
const MAX_YOUNG = 20_000;

interface WriteFenceOptions {
  /** How long a write may take until both services show it. */
  readonly lagMs: () => number;
  /** Is called for young writes for which there is no room: comparisons of their clients may find differences. */
  readonly onFull: ReportFull;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** Keeps comparisons and the writes of the same client apart: an answer that was read before a write differs from one that was read after it. */
export class WriteFence {
  readonly #lagMs: () => number;
  readonly #onFull: ReportFull;
  readonly #clock: () => number;
  readonly #clients = new Map<string, Client>();
  /** The oldest first. */
  readonly #young = new Map<string, YoungWrite>();
  readonly #youngOf = new ClientRoom(MAX_YOUNG);

  constructor({ lagMs, onFull, clock = Date.now }: WriteFenceOptions) {
    this.#lagMs = lagMs;
    this.#onFull = onFull;
    this.#clock = clock;
  }

  /** Names of clients with remembered writes. */
  get size(): number {
    return this.#clients.size + this.#young.size;
  }

  /**
   * Notes that a write of a client has begun.
   *
   * @param names all names under which reads of this client may appear
   * @param owner the one whose share of the store this write uses
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

  /** Whether no write of a client is in flight or too young. */
  isQuiet(names: readonly string[]): boolean {
    return names.every((name) => {
      const { endedAt = -Infinity } = this.#young.get(name) ?? {};
      return (this.#clients.get(name)?.writes ?? 0) === 0 && this.#clock() - endedAt >= this.#lagMs();
    });
  }

  /** Begins to read for a comparison. @returns undefined if a write of the client is in flight or too young */
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
    if (!this.#youngOf.tryTake(owner)) return this.#onFull("writes", 1);
    this.#young.set(name, { endedAt: now, owner });
  }

  #forget(name: string): void {
    const write = this.#young.get(name);
    if (!write) return;
    this.#young.delete(name);
    this.#youngOf.giveBack(write.owner);
  }
}
