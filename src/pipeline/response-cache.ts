import { LRUCache } from "lru-cache";
import type { CallUpstream } from "./stages/call-upstream.ts";

/** What is kept of one owner, until something may have changed it. */
export interface OwnReads {
  get(path: string): unknown;
  /** Does nothing once a write of the owner has begun or ended since these were looked up. */
  keep(path: string, answer: unknown, bytes: number, seconds: number): void;
}

/**
 * Answers of extra reads that are kept for a little while, each for the token that they were given to. They are this
 * process's own, and ended by calls that it translates: docs/guide/run-in-production.md says what that means for others.
 */
export interface ResponseCache {
  /** To be looked up before the read: what is read meanwhile is not kept where a write comes in between. */
  of(owner: string): OwnReads;
  /** The same calls; one that may change something ends all that is kept for its token. */
  invalidateOnWrite(owner: string, call: CallUpstream): CallUpstream;
}

export interface KeptReadsOptions {
  /** Bytes of v4's answers that are kept together. Default 8 MB. */
  readonly mostBytes?: number;
}

const MOST_OWNERS = 1000;
const MOST_ANSWERS = 10_000;
const MOST_BYTES = 8_388_608;

/** Owners are hashes of tokens. What was not asked for the longest goes first. */
export function createResponseCache({ mostBytes = MOST_BYTES }: KeptReadsOptions = {}): ResponseCache {
  /** Numbers that no owner has twice: what is kept under an earlier one is never found again. */
  const generations = new LRUCache<string, number>({ max: MOST_OWNERS });
  const answers = new LRUCache<string, { readonly answer: unknown }>({
    max: MOST_ANSWERS,
    maxSize: mostBytes,
    maxEntrySize: mostBytes,
  });
  let last = 0;

  function renew(owner: string): number {
    last += 1;
    generations.set(owner, last);
    return last;
  }

  return {
    of(owner) {
      const generation = generations.get(owner) ?? renew(owner);
      return {
        get: (path) => answers.get(`${generation} ${path}`)?.answer,
        keep(path, answer, bytes, seconds) {
          if (generations.get(owner) !== generation) return;
          answers.set(`${generation} ${path}`, { answer }, { ttl: seconds * 1000, size: Math.max(1, bytes) });
        },
      };
    },
    invalidateOnWrite: (owner, call) => async (outgoing) => {
      if (outgoing.method === "GET") return call(outgoing);
      renew(owner);
      try {
        return await call(outgoing);
      } finally {
        // A read that began after the write did may have seen what was there before it.
        renew(owner);
      }
    },
  };
}
