import { insured } from "../limits/insured.ts";
import { createMemoryCounter, type MemoryCounter } from "../limits/memory-counter.ts";
import { createRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import type { Counter, CounterName } from "../limits/counter.ts";
import type { Settings } from "../settings/table.ts";
import type { KeyedStore } from "../shared-state/keyed-store.ts";
import { shareTokenFacts, type FactsPlace } from "../tokens/shared-facts.ts";
import { createTokenFacts, type TokenFactsInMemory, type TokenFactsStore } from "../tokens/token-facts.ts";

/** What is known of clients, by all processes that serve them together. */
export interface Shared {
  readonly limits: RateLimits;
  readonly tokens: TokenFactsStore;
  /** Grants and what clients asked for. */
  readonly state: KeyedStore;
  /** Why processes don't share it now, though they should. */
  faults(): readonly string[];
  /** Processes that share the limits, this one among them. */
  replicas(): number;
  close(): Promise<void>;
}

/** What a process keeps by itself, be it alone, in front of what is shared, or in place of it. */
export interface Own {
  readonly counters: Readonly<Record<CounterName, MemoryCounter>>;
  readonly tokens: TokenFactsInMemory;
}

export const openOwn = (settings: Settings): Own => ({
  counters: {
    all: createMemoryCounter(settings.RATE_LIMIT),
    create: createMemoryCounter(settings.RATE_LIMIT_CREATE),
  },
  tokens: createTokenFacts({
    size: settings.TOKEN_CACHE_SIZE,
    ttlSeconds: settings.TOKEN_TTL_SECONDS,
    negativeTtlSeconds: settings.TOKEN_NEGATIVE_TTL_SECONDS,
  }),
});

/** Where processes share what they count and know. */
export interface SharedPlace {
  counter(name: CounterName): Counter;
  readonly facts: FactsPlace;
  /** Processes that share it. */
  replicas(): number;
}

/** Limits and facts of a place, and this process's own where it can't be reached: a share of the limits. */
export function shareIn(place: SharedPlace, own: Own, settings: Settings): Pick<Shared, "limits" | "tokens"> {
  const counter = (name: CounterName, points: number): Counter =>
    insured(place.counter(name), {
      own: own.counters[name],
      share: () => Math.max(1, Math.floor(points / place.replicas())),
    });
  return {
    limits: createRateLimits(
      counter("all", settings.RATE_LIMIT.points),
      counter("create", settings.RATE_LIMIT_CREATE.points),
    ),
    tokens: shareTokenFacts(own.tokens, place.facts),
  };
}

export interface ShareOptions {
  /** Default: new ones. */
  readonly own?: Own;
  /** Does this process serve requests, so that a share of the limits is its own? Default true. */
  readonly serves?: boolean;
}
