import type { Settings } from "../config/setting-definitions.ts";
import { createTokenChecks, type CheckToken } from "../pipeline/check-tokens.ts";
import { createPipelineConfig } from "../pipeline/pipeline-config.ts";
import { createResponseCache } from "../pipeline/response-cache.ts";
import type { PublicAppDependencies } from "./public-app.ts";
import type { Recorder } from "./recorder.ts";

/** Creates the checks of tokens. @returns undefined if the pack has no call for it */
export function openTokenChecks(
  settings: Settings,
  dependencies: PublicAppDependencies,
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
