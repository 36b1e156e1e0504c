/** The interface between comparisons and the choice of a request's side. Neither needs to know how the other works. */
import type { Compared } from "../answers/comparison.ts";

/** How the two services share their data. */
export type RolloutData =
  | { readonly kind: "shared" }
  /** Each side has the writes of the other one after the lag at the latest. */
  | { readonly kind: "replicated"; readonly lagMs: number };

/** The budget of comparisons. */
export interface ComparisonBudget {
  /** Share of the reads, in buckets: 0 to 10 000. */
  readonly share: number;
  /** Comparisons a second in this process. */
  readonly perSecond: number;
  /** Memory for waiting answers. */
  readonly memoryBytes: number;
  /** Share of a client's own rate limit: 0 to 1. */
  readonly clientShare: number;
  /** Names of routes that are never compared. */
  readonly skippedRoutes: ReadonlySet<string>;
}

/** The choice of a request's side, as comparisons see it. */
export interface ComparedSides {
  config(): { readonly data: RolloutData; readonly compare: ComparisonBudget };
  /** Whether the file turned a client to the translation within the last hour. */
  isFresh(client: string | undefined, route: string | null): boolean;
  /** Receives the result of a comparison. @param sender The proven sender, see `provenBy`. Undefined for a stranger */
  note(compared: Compared, sender: string | undefined): void;
  /** Records a request to the old service. @returns a function to call when it responds */
  beginOld(route: string | null, sender: () => string | undefined): () => void;
  /** Notes how the old service has answered. */
  noteOld(route: string | null, hasFailed: boolean, sender: string): void;
}
