/** The compiled `ROLLOUT_FILE`: comparisons, the clients that get the translation, and conditions for returns. */
import type { ComparisonBudget, RolloutData } from "../../compare/index.ts";

/** The clients and routes of a rule. */
export interface RolloutRule {
  /** The rule's text in a reason: `wave first`, `client billing`, `10% of the clients`, `all`. */
  readonly why: string;
  /** Names in the client directory, with their reasons; undefined: the rule names no clients. */
  readonly clients: ReadonlyMap<string, string> | undefined;
  /**
   * Share of the clients in buckets; undefined: the rule has no share. If there are neither `clients` nor `share`, it
   * matches all clients.
   */
  readonly share: number | undefined;
  /** Names of routes; undefined: all. */
  readonly routes: ReadonlySet<string> | undefined;
}

/** The condition for returning a route to the old service: the number of confirmed differences, and of comparisons. */
export interface TurnBack {
  readonly differences: number;
  readonly within: number;
}

/** A valid file. It is replaced as a whole. */
export interface RolloutConfig {
  readonly data: RolloutData;
  readonly compare: ComparisonBudget;
  /** The rules in the order of the file. A client without a matching rule gets the old service. */
  readonly rules: readonly RolloutRule[];
  readonly turnBack: TurnBack;
  readonly salt: string;
}
