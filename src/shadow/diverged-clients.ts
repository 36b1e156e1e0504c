/** Clients that have written to one of two services with data of their own: from then on the two show different things. */
import type { KeyValueStore } from "../storage/key-value-store.ts";

const KEY = "rollout:diverged";
const TTL_SECONDS = 20 * 365 * 86_400;
/** More clients than any directory has. With more of them all count as diverged. */
const MAX_CLIENTS = 20_000;

/** What replicas remember of such clients. */
export class DivergedClients {
  readonly #store: Pick<KeyValueStore, "addAllToSets" | "setMembers">;
  #known = new Set<string>();
  readonly #waiting = new Set<string>();

  constructor(store: Pick<KeyValueStore, "addAllToSets" | "setMembers">) {
    this.#store = store;
  }

  has(client: string): boolean {
    const { size } = this.#known;
    return size + this.#waiting.size >= MAX_CLIENTS || this.#known.has(client) || this.#waiting.has(client);
  }

  /** Notes that a client writes. */
  note(client: string): void {
    if (!this.has(client)) this.#waiting.add(client);
  }

  /** Shares what is known with all replicas. @throws {StateUnavailableError} What waits goes on waiting. */
  async refresh(): Promise<void> {
    const members = [...this.#waiting];
    if (members.length > 0) await this.#store.addAllToSets([{ key: KEY, members }], TTL_SECONDS, MAX_CLIENTS);
    this.#known = new Set(await this.#store.setMembers(KEY));
    for (const client of members) this.#waiting.delete(client);
  }
}
