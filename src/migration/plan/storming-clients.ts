/** Clients that answered a window with a storm of retries: the window lets them through, and ends for all after several. */
import { LRUCache } from "lru-cache";
import { ProvenClients } from "../../gateway/index.ts";
import type { Window } from "./windows.ts";

/** So many different clients have to storm before a stage is paused for all. */
const CLIENTS_OF_PAUSE = 3;

const MAX_CLIENTS = 10_000;

/** A client that storms. */
export interface StormingClient {
  readonly name: string;
  /** The proven owner of its requests, as {@link ProvenClients} distinguishes clients. */
  readonly by: string;
}

/** The storms of a window. */
interface WindowStorms {
  readonly from: number;
  readonly clients: ProvenClients;
  readonly names: string[];
}

const keyOf = (stage: string, name: string): string => JSON.stringify([stage, name]);

/** The clients of one process that storm. */
export class StormingClients {
  /** When the windows end that let clients through. */
  readonly #until = new LRUCache<string, number>({ max: MAX_CLIENTS });
  readonly #storms = new Map<string, WindowStorms>();

  /** Whether a stage lets a client through at a time. */
  isExempt(stage: string, name: string, time: number): boolean {
    return this.#until.size > 0 && time < (this.#until.get(keyOf(stage, name)) ?? 0);
  }

  /**
   * Lets a client through until the window ends. Of those with one token or one network one is counted; a client with a name counts as itself.
   *
   * @returns the clients because of which the stage has to be paused; undefined: they are too few
   */
  add(stage: string, { from, until }: Window, { name, by }: StormingClient): readonly string[] | undefined {
    this.#until.set(keyOf(stage, name), until);
    let found = this.#storms.get(stage);
    if (found?.from !== from) {
      found = { from, clients: new ProvenClients(), names: [] };
      this.#storms.set(stage, found);
    }
    if (found.clients.find(by) !== undefined) return undefined;
    found.clients.add(by);
    found.names.push(name);
    if (found.names.length < CLIENTS_OF_PAUSE) return undefined;
    this.#storms.delete(stage);
    return found.names;
  }
}
