/** The translation for comparisons: the whole pipeline, without records, metrics and limits of the gateway. */
import type { Log, Settings } from "../../base/index.ts";
import {
  createAlphaPipeline,
  createPipelineConfig,
  createTokenLocks,
  createUnlimitedRates,
  NO_PLAN,
  NO_RESPONSE_CACHE,
  type OAuthServices,
  type PipelineDependencies,
  type TokenCache,
  type UpstreamClient,
} from "../../gateway/index.ts";
import type { SecondAnswer } from "../answers/comparison.ts";
import { COMPARISON_TIMEOUT_MS } from "./ask-old-service.ts";
import type { AskedRequest } from "./served-request.ts";

/** The parts of a gateway that the translation of comparisons needs. */
export interface ShadowTranslationParts extends Pick<
  PipelineDependencies,
  "pack" | "catalogs" | "upstreamTokens"
> {
  readonly upstream: UpstreamClient;
  readonly shared: { readonly tokens: TokenCache };
  readonly oauth: Pick<OAuthServices, "tokenStore">;
  readonly log: Log;
}

/** Creates the function that translates a request for a comparison. */
export function createShadowTranslation(
  settings: Settings,
  dependencies: ShadowTranslationParts,
): SecondAnswer<AskedRequest> {
  const { pack, catalogs, upstream, upstreamTokens, shared, oauth, log } = dependencies;
  const translate = createAlphaPipeline({
    catalogs,
    upstream,
    upstreamTokens,
    ...createPipelineConfig(pack, settings),
    plan: NO_PLAN,
    startSpan: undefined,
    record: () => {},
    onUnexpectedError: (error, { id: requestId }) =>
      log.warn(
        { code: "AG_COMPARISON_FAILED", requestId, err: error },
        "a request could not be translated for a comparison",
      ),
    tokenStore: oauth.tokenStore,
    // A request for a comparison must not delay requests of clients.
    tokenLocks: createTokenLocks(),
    // Clients also write through the old service, and no code would invalidate cached responses.
    responseCache: NO_RESPONSE_CACHE,
    files: upstream,
    tokens: shared.tokens,
    limits: createUnlimitedRates(),
    nativeScheme: settings.NATIVE_PROXY ? pack.nativeScheme : undefined,
  });
  return {
    source: "legacy",
    async ask({ request, body: sent }) {
      const signal = AbortSignal.timeout(COMPARISON_TIMEOUT_MS);
      const { status, headers, body, file } = await translate({
        ...request,
        startedAt: performance.now(),
        signal,
        ...(sent && { readBody: async () => sent }),
      });
      file?.stream.destroy();
      if (signal.aborted) return "timeout";
      return file ? "size" : { status, headers, body };
    },
  };
}
