import type { Endpoint } from "../mapping/endpoint.ts";
import type { Pack } from "../mapping/pack.ts";
import type { JsonObject } from "../mapping/reading.ts";
import type { Catalogs } from "../upstream/catalogs.ts";
import type { AnswerRules } from "./answer-back.ts";
import type { CarryV4 } from "./carry-v4.ts";
import type { CallV4, Outgoing } from "./call-v4.ts";
import type { TokenLevels } from "./token-levels.ts";
import type { KeptReads } from "./kept-reads.ts";
import type { AlphaRequest, Notes, Target } from "./exchange.ts";

/** What the stops between admission and answer share: one admitted request, and the ways to v4. */
export interface Work {
  readonly request: AlphaRequest;
  /** The JSON body of the request. @throws {Refusal} 400 for anything else */
  readonly sent: () => JsonObject;
  readonly target: Target;
  readonly pack: Pack;
  readonly rules: AnswerRules;
  readonly catalogs: Catalogs;
  readonly call: CallV4;
  readonly carry: CarryV4;
  /** Answers that may be used again, and the hash of the token that they belong to. */
  readonly kept: KeptReads;
  readonly owner: string | undefined;
  /** For routes whose answers carry tokens. */
  readonly levels: TokenLevels;
  /** Whether the caller's token is known to have no scope at all. */
  readonly lacksScopes: () => boolean | Promise<boolean>;
  readonly notes: Notes;
}

/** A v4 call with what must be known of it when v4 refuses. */
export interface Prepared extends Outgoing {
  /** Names of v4 members that the gateway put in by itself. */
  readonly added: ReadonlySet<string>;
  /** The alpha body that it was made from, in its documented form. */
  readonly alpha?: JsonObject;
  /** Whether the client sent a member, by its alpha name. */
  readonly sent: (member: string) => boolean;
}

const NOTHING_ADDED: ReadonlySet<string> = new Set();

/** A call without a body, its path filled in. */
export const plainCall = (
  { method, path }: Endpoint,
  values: Readonly<Record<string, unknown>>,
): Prepared => ({
  method,
  path: path(values),
  added: NOTHING_ADDED,
  sent: () => false,
});
