import { LRUCache } from "lru-cache";
import type { CallV4 } from "./call-v4.ts";

/** Answers of extra reads that are kept for a little while, each for the token that they were given to. */
export interface KeptReads {
  get(owner: string, path: string): unknown;
  keep(owner: string, path: string, answer: unknown, seconds: number): void;
  /** The same calls; one that may change something ends all that is kept for its token. */
  watching(owner: string, call: CallV4): CallV4;
}

const MOST_OWNERS = 1000;
const MOST_ANSWERS = 50;

/** Owners are hashes of tokens. What was not asked for the longest goes first. */
export function createKeptReads(): KeptReads {
  const owners = new LRUCache<string, LRUCache<string, { readonly answer: unknown }>>({ max: MOST_OWNERS });
  return {
    get: (owner, path) => owners.get(owner)?.get(path)?.answer,
    keep(owner, path, answer, seconds) {
      const answers = owners.get(owner) ?? new LRUCache({ max: MOST_ANSWERS });
      owners.set(owner, answers);
      answers.set(path, { answer }, { ttl: seconds * 1000 });
    },
    watching: (owner, call) => (outgoing) => {
      if (outgoing.method !== "GET") owners.delete(owner);
      return call(outgoing);
    },
  };
}
