/** What the public port needs of a gateway. */
import type { Exchange } from "../../compare/index.ts";
import type { CatalogCache, UpstreamTokens } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Dependencies } from "../composition/dependencies.ts";

/** Dependencies of a gateway, and the pack that its requests are translated with. */
export interface PublicAppDependencies extends Dependencies {
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
  /** Undefined if v4 gets the clients' tokens. */
  readonly upstreamTokens: UpstreamTokens | undefined;
  /** Whether only those get it who ask for it: what it answers says nothing about the active pack. */
  readonly isForTesters: boolean;
  /** Compares a request with the candidate after its response was sent; undefined: nothing is compared. */
  readonly compare: ((exchange: Exchange) => void) | undefined;
}

/** What clients read of a request that failed for no reason of theirs. */
export const FAILURE = "The service could not process this request.";
