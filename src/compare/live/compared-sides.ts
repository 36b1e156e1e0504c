/** The interface between comparisons and the choice of a request's side. Neither depends on the implementation of the other. */
import type { Compared } from "../answers/comparison.ts";

/** How the two services share their data. */
export type RolloutData =
  | { readonly kind: "shared" }
  /** Writes on one side reach the other side within the lag. */
  | { readonly kind: "replicated"; readonly lagMs: number };

/** The budget of comparisons. */
export interface ComparisonBudget {
  /** Share of the compared reads, in buckets: 0 to 10 000. */
  readonly share: number;
  /** Maximum number of comparisons per second in this process. */
  readonly perSecond: number;
  /** Memory for waiting responses in bytes. */
  readonly memoryBytes: number;
  /** Share of a client's own rate limit that comparisons may use: 0 to 1. */
  readonly clientShare: number;
  /** Names of routes that are never compared. */
  readonly skippedRoutes: ReadonlySet<string>;
}

/** The choice of a request's side, in the form for comparisons. */
export interface ComparedSides {
  config(): { readonly data: RolloutData; readonly compare: ComparisonBudget };
  /** Whether the file moved a client to the translation within the last hour. */
  isFresh(client: string | undefined, route: string | null): boolean;
  /** Receives the result of a comparison. @param sender the proven sender, see `provenBy`. Undefined for an unknown sender */
  note(compared: Compared, sender: string | undefined): void;
  /** Records a request to the old service. @returns a function to call when it responds */
  beginOld(route: string | null, sender: () => string | undefined): () => void;
  /** Records whether the old service's response was a failure. */
  noteOld(route: string | null, hasFailed: boolean, sender: string): void;
}
