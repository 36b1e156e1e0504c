/** Tokens that v4 has accepted within the last day, for longer than their information is cached. */
export interface AcceptedTokens {
  add(hash: string): void;
  delete(hash: string): void;
  /** Deletes the tokens whose hashes start with a fingerprint. */
  purge(fingerprint: string): void;
  has(hash: string): boolean;
  readonly size: number;
}

export interface AcceptedTokensOptions {
  /** Most tokens. Default 100 000. */
  readonly size?: number;
  /** A monotonic clock in milliseconds. Default: that of the process. */
  readonly clock?: () => number;
}

const MOST_TOKENS = 100_000;
const DAY_MS = 86_400_000;

/**
 * Creates the memory of one process. It has hashes only. When it is full, further tokens are not remembered: a client
 * that creates many tokens can't push those of others out.
 */
export function createAcceptedTokens({
  size = MOST_TOKENS,
  clock = () => performance.now(),
}: AcceptedTokensOptions = {}): AcceptedTokens {
  /** When each token is forgotten, the next one first: every acceptance moves its token to the end. */
  const endsByHash = new Map<string, number>();

  function deleteExpired(): void {
    const now = clock();
    for (const [hash, endsAt] of endsByHash) {
      if (endsAt > now) return;
      endsByHash.delete(hash);
    }
  }

  return {
    add(hash) {
      endsByHash.delete(hash);
      deleteExpired();
      if (endsByHash.size < size) endsByHash.set(hash, clock() + DAY_MS);
    },
    delete: (hash) => void endsByHash.delete(hash),
    purge(fingerprint) {
      for (const hash of endsByHash.keys()) if (hash.startsWith(fingerprint)) endsByHash.delete(hash);
    },
    has: (hash) => (endsByHash.get(hash) ?? -Infinity) > clock(),
    get size() {
      return endsByHash.size;
    },
  };
}
