import { LRUCache } from "lru-cache";
import type { KeyedStore } from "../shared-state/keyed-store.ts";
import type { StoredGrant } from "./grant.ts";
import type { Seal } from "./seal.ts";

/** A grant as it stands in the store; `grant` is undefined for a token that the gateway never handed out. */
export interface GrantRecord {
  readonly sealed: string | undefined;
  readonly grant: StoredGrant | undefined;
  /** Until when the store need not be asked again, by the clock of the records. */
  readonly freshUntil: number;
}

/** Reads and writes grants in the shared store, with a copy of the last ones in this process. */
export interface GrantRecords {
  /** The copy, however old. */
  known(hash: string): GrantRecord | undefined;
  /** Whether the store need not be asked again. */
  isFresh(record: GrantRecord): boolean;
  /** What the store has now. @throws {StateUnavailable} where it doesn't answer. */
  read(hash: string): Promise<GrantRecord>;
  write(hash: string, grant: StoredGrant): Promise<void>;
  /** Writes where the store still has what `before` says; false where it was changed meanwhile. */
  replace(hash: string, before: GrantRecord, grant: StoredGrant): Promise<boolean>;
  readonly size: number;
}

export interface GrantRecordsOptions {
  readonly store: KeyedStore;
  readonly seal: Seal;
  /** Copies kept. */
  readonly size: number;
  /** Milliseconds of a clock that nobody sets. Default that of the process. */
  readonly elapsed?: () => number;
}

/** Alpha's tokens never ended. A client that stays away longer than this has to sign in again. */
const KEPT_SECONDS = 400 * 86_400;

/** An expiry at another process is seen after so long. */
const FRESH_MS = 3000;

/** A token is kept before its client has it, so that one which is none of ours becomes none later. */
const NONE_FRESH_MS = 60_000;

const keyOf = (hash: string): string => `grant:${hash}`;

/** Was sealed under another secret, or is damaged. What such a token may do is not known, so that it may do nothing. */
const unreadable = (): StoredGrant => ({ scopes: "", over: true });

export function createGrantRecords({
  store,
  seal,
  size,
  elapsed = () => performance.now(),
}: GrantRecordsOptions): GrantRecords {
  const copies = new LRUCache<string, GrantRecord>({ max: size });

  function keep(hash: string, sealed: string | undefined, grant: StoredGrant | undefined): GrantRecord {
    const record = { sealed, grant, freshUntil: elapsed() + (grant ? FRESH_MS : NONE_FRESH_MS) };
    copies.set(hash, record);
    return record;
  }

  function opened(hash: string, sealed: string): StoredGrant {
    const text = seal.open(sealed, keyOf(hash));
    return text === undefined ? unreadable() : (JSON.parse(text) as StoredGrant);
  }

  const sealedFor = (hash: string, grant: StoredGrant): string =>
    seal.seal(JSON.stringify(grant), keyOf(hash));

  return {
    known: (hash) => copies.get(hash),
    isFresh: ({ freshUntil }) => freshUntil > elapsed(),
    async read(hash) {
      const sealed = await store.get(keyOf(hash));
      return keep(hash, sealed, sealed === undefined ? undefined : opened(hash, sealed));
    },
    async write(hash, grant) {
      const sealed = sealedFor(hash, grant);
      await store.set(keyOf(hash), sealed, KEPT_SECONDS);
      keep(hash, sealed, grant);
    },
    async replace(hash, before, grant) {
      const sealed = sealedFor(hash, grant);
      const replaced =
        before.sealed !== undefined &&
        (await store.replace(keyOf(hash), before.sealed, sealed, KEPT_SECONDS));
      if (replaced) keep(hash, sealed, grant);
      return replaced;
    },
    get size() {
      return copies.size;
    },
  };
}
