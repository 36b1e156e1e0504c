import type { Metrics, Settings } from "../../base/index.ts";
import { createTokenChecks, type CheckToken, type TokenCheckBudget } from "./check-tokens.ts";
import { createPipelineConfig } from "../pipeline/pipeline-config.ts";
import { createResponseCache } from "../responses/response-cache.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Pack } from "../../pack/index.ts";
import type { TokenCache } from "./token-cache.ts";
import { TokenStore } from "./token-store.ts";
import type { UpstreamClient } from "../upstream/client.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";
import type { TokenLocks } from "./token-locks.ts";
import type { InFlightTracker } from "../http/in-flight.ts";

/** What the checks need of a gateway. */
interface TokenCheckParts {
  readonly pack: Pack;
  readonly shared: { readonly tokens: TokenCache };
  readonly oauth: { readonly tokenStore: TokenStore };
  readonly upstream: UpstreamClient;
  /** Undefined if v4 gets the clients' tokens. */
  readonly upstreamTokens: UpstreamTokens | undefined;
  readonly tokenLocks: TokenLocks;
  readonly tokenChecks: TokenCheckBudget;
  readonly metrics: Pick<Metrics, "countTokenCheck">;
  readonly inFlight: Pick<InFlightTracker, "track">;
}

/** Creates the checks of tokens. @returns undefined if the pack has no call for it */
export function openTokenChecks(
  settings: Settings,
  dependencies: TokenCheckParts,
  recorder: Recorder,
): CheckToken | undefined {
  const { pack, shared, oauth, upstream, upstreamTokens, tokenLocks, metrics, inFlight } = dependencies;
  if (!pack.tokenCheck) return undefined;
  return createTokenChecks({
    check: pack.tokenCheck,
    budget: dependencies.tokenChecks,
    dependencies: {
      ...createPipelineConfig(pack, settings),
      tokens: shared.tokens,
      tokenLocks,
      tokenStore: oauth.tokenStore,
      upstream,
      files: upstream,
      responseCache: createResponseCache(),
      upstreamTokens,
    },
    record: (request, context) => recorder.acceptedToken(request, context),
    count: metrics.countTokenCheck,
    onUnexpectedError: (error, request, context) => recorder.unexpected(error, request, context),
    track: (work) => inFlight.track(work),
  });
}
