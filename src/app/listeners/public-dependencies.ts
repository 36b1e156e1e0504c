/** The dependencies of the public port. */
import type { Exchange } from "../../compare/index.ts";
import type { CatalogCache, UpstreamTokens } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Dependencies } from "../composition/dependencies.ts";

/** The dependencies of a gateway that the public port needs, and the pack that translates requests. */
export interface PublicAppDependencies extends Pick<
  Dependencies,
  | "audit"
  | "bodies"
  | "clients"
  | "inFlight"
  | "legacy"
  | "log"
  | "metrics"
  | "migrationPages"
  | "nativeProxy"
  | "oauth"
  | "onUntrustedProxy"
  | "plan"
  | "rollout"
  | "shadow"
  | "shared"
  | "state"
  | "tokenChecks"
  | "tokenLocks"
  | "tracing"
  | "upstream"
  | "v4"
> {
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
  /** The listed v4 tokens; undefined if the clients' tokens are sent to v4. */
  readonly upstreamTokens: UpstreamTokens | undefined;
  /** True for the candidate pack, which only testers use. Its results are not counted for the active pack. */
  readonly isForTesters: boolean;
  /** Compares a request with the candidate after the response was sent. Undefined: nothing is compared. */
  readonly compare: ((exchange: Exchange) => void) | undefined;
}
