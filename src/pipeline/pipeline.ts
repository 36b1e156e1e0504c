import type { Pack } from "../mapping/pack.ts";
import type { RateLimits } from "../rate-limit/rate-limits.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { TokenInfo } from "../auth/token-cache.ts";
import type { TokenLocks } from "../auth/token-locks.ts";
import type { FileUpstream } from "../upstream/stream.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import { HttpError } from "../dialect/http-error.ts";
import type { JsonObject } from "../mapping/translation-context.ts";
import type { BrownOuts } from "./brown-outs/brown-outs.ts";
import { authorize, authorizeAny, effectiveGrants, hasNoScopes } from "./stages/authorize.ts";
import type { TranslationConfig } from "./stages/build-response.ts";
import { enforceBrownOut } from "./stages/brown-out.ts";
import { createUpstreamCaller, upstreamCredentials, type CallDependencies } from "./stages/call-upstream.ts";
import { verifyToken } from "./stages/verify-token.ts";
import { parseCredentials } from "./stages/parse-credentials.ts";
import { createFileStreamer } from "./stages/file-streamer.ts";
import { withLifecycle, type LifecycleDependencies, type AlphaHandler } from "./lifecycle.ts";
import type { Credentials, RequestContext } from "./context.ts";
import { chooseRoute, matchRoute, routeCandidates } from "./stages/match-route.ts";
import { executeRoute } from "./execute-route.ts";
import { createResponseCache } from "./response-cache.ts";
import { enforceRateLimit } from "./stages/rate-limit.ts";
import { anonymous, resolveUpstreamToken, type ResolvedCredentials } from "./stages/resolve-token.ts";
import { parseBody, receiveBody } from "./stages/parse-body.ts";
import { singleFlightToken } from "./stages/single-flight-token.ts";
import { traceparentOf } from "./trace-context.ts";

export interface PipelineDependencies extends CallDependencies, LifecycleDependencies {
  readonly files: FileUpstream;
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
  readonly limits: RateLimits;
  readonly turns: TokenLocks;
  /** Tokens of the gateway's own exchange. */
  readonly grants: Pick<TokenStore, "find" | "findOther" | "keep" | "nameLevels" | "levelsNamed">;
  readonly rules: TranslationConfig;
  /** When alpha is switched off, and for whom. */
  readonly brownOuts: BrownOuts;
  /** Scheme of the native lane, where that is open. */
  readonly nativeScheme?: string | undefined;
}

/** The alpha lane, the whole road of a request. Every stop is a function of its own file. */
export function createAlphaPipeline(parts: PipelineDependencies): AlphaHandler {
  const { pack, scopes, tokens, grants, limits, catalogs, rules } = parts;
  const kept = createResponseCache();
  const limitedStatus = pack.dialect.statuses.rate_limited.alpha;

  /** Without a wait where the answer is at hand. */
  const factsOf = ({ hash }: Credentials) => (hash === undefined ? undefined : tokens.get(hash));

  /** A token that is known as refused may have been renewed elsewhere since. */
  async function renewed(presented: ResolvedCredentials, notes: RequestContext): Promise<void> {
    if (await presented.replace(presented.caller)) notes.facts = await factsOf(presented.caller);
  }

  /** Nobody is kept from what is public by a token that v4 would not take. */
  async function presentPublic(
    client: Credentials,
    facts: TokenInfo | undefined,
  ): Promise<ResolvedCredentials> {
    const presented = facts?.refused
      ? anonymous
      : await resolveUpstreamToken(client, grants).catch(() => anonymous);
    return typeof presented.grant === "object" && presented.grant.over ? anonymous : presented;
  }

  return withLifecycle(async function travel(request, notes) {
    const client = parseCredentials(request, pack.dialect.alpha.scheme, parts.nativeScheme);
    notes.caller = client;
    const found = routeCandidates(matchRoute(request, pack));
    notes.target = found instanceof HttpError ? undefined : found[0];
    const known = factsOf(client);
    notes.facts = known instanceof Promise ? await known : known;
    notes.passed.credentials = performance.now();
    await enforceRateLimit(request, client, notes, { limits, limitedStatus });
    notes.passed.limits = performance.now();
    enforceBrownOut(notes, parts.brownOuts, pack.dialect.statuses.other);
    const isPublic = notes.target?.route.access === "public";
    const presented = await (isPublic
      ? presentPublic(client, notes.facts)
      : resolveUpstreamToken(client, grants));
    if (presented.caller.hash !== client.hash) notes.facts = await factsOf(presented.caller);
    if (notes.facts?.refused) await renewed(presented, notes);
    let target = authorizeAny(presented, found, { scopes, facts: notes.facts });
    const accepted = notes.facts?.refused === false || typeof presented.grant === "object";
    const bytes = request.readBody && (await receiveBody(request, notes, accepted));
    let json: JsonObject | undefined;
    const sent = (): JsonObject => (json ??= parseBody(request, bytes));
    if (!(found instanceof HttpError) && found.length > 1)
      notes.target = target = await chooseRoute(found, sent);
    notes.facts = await singleFlightToken(presented.caller, target, notes, parts);
    if (notes.facts?.refused) await renewed(presented, notes);
    authorize(presented, target, { scopes, facts: notes.facts });
    // Not before v4 has accepted the token: a made-up one reads nothing.
    const { hash } = presented.caller;
    if (hash !== undefined && notes.facts?.refused === false)
      await catalogs.refreshWith(hash, upstreamCredentials(presented.caller, parts.dialect.scheme));
    notes.passed.admission = performance.now();
    const owner = client.hash;
    notes.traceparent = traceparentOf(request);
    const calls = createUpstreamCaller(request, presented, parts, notes);
    const call = owner === undefined ? calls : kept.watching(owner, calls);
    if (target.route.upload && pack.tokenCheck && notes.facts?.refused !== false) {
      await verifyToken(pack.tokenCheck, call, target, rules, notes);
      notes.facts = { refused: false, grants: undefined };
    }
    const carry = createFileStreamer(request, presented, parts, notes);
    const may = async () => effectiveGrants(presented.grant, await factsOf(presented.caller));
    const lacksScopes = async (): Promise<boolean> => {
      const levels = await may();
      return levels !== undefined && hasNoScopes(levels);
    };
    const levels = { grants, scopes, caller: may, notes, now: Date.now };
    const ways = { call, carry, kept, owner, lacksScopes, levels };
    const work = { request, sent, target, pack, rules, catalogs, ...ways, notes };
    const body = await executeRoute(work);
    notes.passed.back = performance.now();
    return { status: 200, body };
  }, parts);
}
