/** Checks tokens with v4 that no call has proven, such as tokens of clients that only read catalogs. */
import { addressNetwork, type Metrics, type Settings } from "../../base/index.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { TokenStore } from "../auth/token-store.ts";
import type { Pack } from "../../pack/index.ts";
import { createMemoryLimiter } from "../limits/limiter.ts";
import { RequestContext } from "../request/context.ts";
import type { AuthenticatedClient } from "../request/client.ts";
import type { AlphaRequest } from "../request/request.ts";
import { type ProofDependencies, proveToken } from "./prove-token.ts";
import type { CallerRequest } from "../calls/upstream-call.ts";
import { isExpected } from "../responses/error-result.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import { createResponseCache } from "../calls/response-cache.ts";
import type { UpstreamClient } from "../upstream/client.ts";
import type { CheckToken } from "./pipeline.ts";
import { createPipelineConfig } from "./pipeline-config.ts";

/** The name of the route in the record of a check. */
export const TOKEN_CHECK = "token check";

/** Limits on the number of checks in one process. Checks of tokens that v4 accepts are not counted against their address. */
const ADDRESS_LIMIT = { points: 20, seconds: 60 };
const TOTAL_LIMIT = { points: 60, seconds: 60 };
const MAX_ADDRESSES = 10_000;
/** Milliseconds during which a token is not checked again, regardless of v4's response. */
const PAUSE_MS = 60_000;
/** Maximum number of stored tokens. It exceeds the number of checks that the total limit allows during the pause. */
const MAX_TOKENS = 1000;

/** Limits the checks that invented tokens may cause, for all packs together. */
export class TokenCheckBudget {
  readonly #addresses = createMemoryLimiter(ADDRESS_LIMIT, MAX_ADDRESSES);
  readonly #total = createMemoryLimiter(TOTAL_LIMIT, 1);
  readonly #asked = new LRUCache<string, true>({ max: MAX_TOKENS, ttl: PAUSE_MS, ttlResolution: 0 });
  readonly #closing = new AbortController();
  /** Fires when the gateway closes. Checks are then abandoned. */
  readonly signal: AbortSignal = this.#closing.signal;

  close(): void {
    this.#closing.abort();
  }

  /**
   * Takes one check.
   *
   * @param hash the hash of the token
   * @param network the network of the client's address
   * @returns "asked" if the token was checked recently, "exhausted" if no check is left
   */
  take(hash: string, network: string): "taken" | "asked" | "exhausted" {
    if (this.#asked.has(hash)) return "asked";
    if (!this.#addresses.consume(network).isAllowed || !this.#total.consume("").isAllowed) return "exhausted";
    this.#asked.set(hash, true);
    return "taken";
  }

  /** Refunds the check of a token that v4 accepts to its address. */
  refund(network: string): void {
    void this.#addresses.refund(network);
  }
}

/** Disables the recording of v4's response about the holder of the token. It is not needed, and must not be recorded. */
function withoutResponses({ upstream }: RequestContext): void {
  if (upstream) upstream.calls = upstream.calls.map(({ response: _response, ...call }) => call);
}

/** Records that v4 has accepted a token, and unexpected errors. */
interface TokenRecorder {
  acceptedToken(request: AlphaRequest, context: RequestContext): Promise<void>;
  unexpected(error: unknown, request: AlphaRequest, context: RequestContext): void;
}

/** The dependencies of the checks. */
interface TokenCheckParts extends Pick<ProofDependencies, "upstreamTokens" | "tokenLocks"> {
  readonly pack: Pack;
  readonly shared: { readonly tokens: TokenCache };
  readonly oauth: { readonly tokenStore: TokenStore };
  readonly upstream: UpstreamClient;
  readonly tokenChecks: TokenCheckBudget;
  readonly metrics: Pick<Metrics, "countTokenCheck">;
  /** Makes the shutdown wait for a check. */
  readonly inFlight: { track(work: Promise<void>): unknown };
}

/** Creates the checks of tokens. @returns undefined if the pack has no call for it */
export function openTokenChecks(
  settings: Settings,
  parts: TokenCheckParts,
  recorder: TokenRecorder,
): CheckToken | undefined {
  const { pack, shared, oauth, upstream, upstreamTokens, tokenLocks, tokenChecks: budget } = parts;
  const { tokenCheck: check } = pack;
  if (!check) return undefined;
  const { countTokenCheck: count } = parts.metrics;
  const dependencies: ProofDependencies = {
    ...createPipelineConfig(pack, settings),
    tokens: shared.tokens,
    tokenLocks,
    tokenStore: oauth.tokenStore,
    upstream,
    files: upstream,
    responseCache: createResponseCache(),
    upstreamTokens,
  };
  const inProgress = new Map<string, Promise<void>>();

  async function askAbout(
    hash: string,
    request: AlphaRequest,
    client: AuthenticatedClient,
    creditAddress: CallerRequest["creditAddress"],
  ): Promise<void> {
    const context = new RequestContext();
    context.route = TOKEN_CHECK;
    context.isOwnPage = true;
    try {
      // Another request may have proven the token in the meantime.
      if ((await dependencies.tokens.get(hash)) !== undefined) return;
      // Requests with the token don't wait for the check.
      const proof = { check, creditAddress, isExclusive: false, dependencies };
      const isAccepted = (await proveToken(request, client, context, proof)) !== undefined;
      count(isAccepted ? "accepted" : "refused");
      if (!isAccepted) return;
      budget.refund(addressNetwork(request.address));
      withoutResponses(context);
      await recorder.acceptedToken(request, context);
    } catch (error) {
      count("failed");
      if (!isExpected(error)) recorder.unexpected(error, request, context);
    }
  }

  return function checkToken({ readBody: _body, openUpload: _upload, ...request }, client, creditAddress) {
    const { hash } = client.credentials;
    if (hash === undefined) return undefined;
    const taken = budget.take(hash, addressNetwork(request.address));
    if (taken === "exhausted") count("skipped");
    if (taken !== "taken") return inProgress.get(hash);
    // The check continues if the client has disconnected.
    const ownRequest = { ...request, signal: budget.signal, startedAt: performance.now() };
    // The record of the request is written before that of the check.
    const ended = nextTurn()
      .then(() => askAbout(hash, ownRequest, client, creditAddress))
      .finally(() => inProgress.delete(hash));
    inProgress.set(hash, ended);
    parts.inFlight.track(ended);
    return ended;
  };
}
