import type { Counter, CounterName } from "../limits/counter.ts";
import type { FactsPlace } from "../tokens/shared-facts.ts";
import type { PrimaryDuties } from "./duties.ts";
import type { Talk } from "./talk.ts";

/** Counts in the primary, one count for all workers. */
export const primaryCounter = (primary: Talk<PrimaryDuties>, name: CounterName): Counter => ({
  take: (key) => primary.ask("take", name, key),
  giveBack: (key) => primary.ask("giveBack", name, key),
  size: 0,
});

/** Keeps facts in the primary. `onPurge`: how the worker is told of a purge. */
export const primaryFacts = (primary: Talk<PrimaryDuties>, onPurge: FactsPlace["onPurge"]): FactsPlace => ({
  get: (hash) => primary.ask("recall", hash),
  set: (hash, facts) => primary.ask("learn", hash, facts),
  purge: (fingerprint) => primary.ask("purge", fingerprint),
  onPurge,
});
