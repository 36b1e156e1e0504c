import type { Metrics, Settings } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import type { TokenLocks } from "../auth/token-locks.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { UpstreamTokens } from "../auth/upstream-tokens.ts";
import { createResponseCache } from "../responses/response-cache.ts";
import type { UpstreamClient } from "../upstream/client.ts";
import { type CheckToken, createTokenChecks, type TokenCheckBudget } from "./check-tokens.ts";
import type { RequestContext } from "./context.ts";
import { createPipelineConfig } from "./pipeline-config.ts";
import type { AlphaRequest } from "./request.ts";

/** Records that v4 has accepted a token, and unexpected errors. */
interface TokenRecorder {
  acceptedToken(request: AlphaRequest, context: RequestContext): Promise<void>;
  unexpected(error: unknown, request: AlphaRequest, context: RequestContext): void;
}

/** The services that the checks need. */
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
  readonly inFlight: { track(work: Promise<void>): unknown };
}

/** Creates the checks of tokens. @returns undefined if the pack has no call for it */
export function openTokenChecks(
  settings: Settings,
  dependencies: TokenCheckParts,
  recorder: TokenRecorder,
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
