/** Creates the response of a different pack to a request, from the v4 responses that led to the client's response. */
import {
  type CatalogCache,
  createPipelineConfig,
  createTokenCache,
  header,
  NO_RESPONSE_CACHE,
  type PlanRules,
  provenBy,
  type RequestContext,
  type UpstreamTokens,
} from "../../gateway/index.ts";
import type { ClientDirectory, ClientIdentity } from "../../audit/index.ts";
import type { Settings } from "../../base/index.ts";
import type { Pack, Route } from "../../pack/index.ts";
import { emptyTokenStore } from "../dry-run/dry-run.ts";
import { callsOf, createRecordedAnswer } from "../dry-run/recorded-answer.ts";
import { createAnswerRules } from "../answers/compare-answers.ts";
import { type Finding, judgeOnce, notComparable } from "../answers/judge.ts";
import type { Answer, Compared, ComparedSample, Exchange, SecondAnswer } from "../answers/comparison.ts";

/** The pack that translates a request again, with the services for it. */
export interface OtherPack {
  readonly pack: Pack;
  readonly catalogs: CatalogCache;
  readonly upstreamTokens: UpstreamTokens | undefined;
}

/** Limits for the known tokens of a request. */
const KNOWN_TOKENS = { size: 10, ttlSeconds: 3600, negativeTtlSeconds: 3600 };

/**
 * Stores the facts that were known about the tokens of a request at its start. v4's responses may add more, as they
 * originally did.
 */
function knowTokens(tokens: ReturnType<typeof createTokenCache>, { client, token }: RequestContext): void {
  const all = [
    { hash: client?.credentials.hash, info: client?.tokenInfo, isAccepted: client?.isAccepted },
    { hash: token?.resolved.credentials.hash, info: token?.info, isAccepted: token?.isAccepted },
  ];
  for (const { hash } of all) if (hash !== undefined) void tokens.purge(hash);
  for (const { hash, info, isAccepted } of all) {
    if (hash === undefined) continue;
    if (info) tokens.setEntry(hash, { info, ttlMs: KNOWN_TOKENS.ttlSeconds * 1000 });
    else if (isAccepted && !tokens.get(hash)) tokens.setScopes(hash, undefined);
  }
}

/** The settings for responses of a different pack. */
type AnswerSettings = Parameters<typeof createPipelineConfig>[1] & Partial<Pick<Settings, "NATIVE_PROXY">>;

/** The pack that created a response, and its route. */
export interface MadeBy {
  readonly pack: Pack;
  readonly route: Route;
}

/** Compares responses with those of a different pack, one at a time. */
export type CompareWithPack = ReturnType<typeof createPackComparison>;

/**
 * Creates the comparison with the responses of a different pack. A difference needs no confirmation, because the same
 * v4 responses always lead to the same response under one pack.
 */
export function createPackComparison(other: Pack, answer: SecondAnswer) {
  const { source } = answer;
  return async (made: MadeBy, exchange: Exchange): Promise<Finding & Pick<Compared, "source" | "sample">> => {
    const isIssued = made.route.comparison.obstacle === "token";
    const second = isIssued ? "token" : await answer.ask(exchange);
    if (typeof second === "string") return { source, ...notComparable(second) };
    const sample = sampleOf(made.pack, exchange, second);
    const rules = createAnswerRules(made.pack, made.route, sample, other.acceptedDifferences);
    const finding = judgeOnce(sample, rules);
    return { source, ...finding, ...(finding.result !== "equal" && { sample }) };
  };
}

/** Creates the source of a different pack's responses to live requests, with what was known about their senders. */
export function createCandidateAnswer(
  settings: AnswerSettings,
  { pack, catalogs, upstreamTokens }: OtherPack,
  plan: PlanRules,
): SecondAnswer {
  const tokens = createTokenCache(KNOWN_TOKENS);
  let current: RequestContext | undefined;

  const { source, ask } = createRecordedAnswer(pack, {
    parts: {
      ...createPipelineConfig(pack, settings),
      // The plan's decision was made when the request arrived.
      plan: { ...plan, judge: () => current?.planned, count() {} },
      upstreamTokens,
      files: { stream: () => Promise.reject(new Error("files are not translated again")) },
      catalogs,
      responseCache: NO_RESPONSE_CACHE,
      tokens,
      tokenStore: { ...emptyTokenStore, find: () => current?.token?.resolved.issued },
      nativeScheme: settings?.NATIVE_PROXY ? pack.nativeScheme : undefined,
    },
  });

  return {
    source,
    async ask(exchange) {
      current = exchange.context;
      knowTokens(tokens, current);
      const answer = await ask(exchange);
      current = undefined;
      return answer;
    },
  };
}

/** Returns the sender of a request, as in {@link Compared}. If clients have no credentials, only the user agent is known. */
export function senderOf(
  identity: ClientIdentity,
  address: string,
  { credentials }: Pack,
  directory: ClientDirectory,
) {
  const proven = credentials.client ? { ...identity, userAgent: undefined } : identity;
  return {
    client: directory.nameOf(identity) ?? identity.application ?? identity.fingerprint ?? null,
    provenBy: provenBy(directory.nameOf(proven), identity.fingerprint, address),
  };
}

/** Returns a request and its responses, for an example of a difference. */
function sampleOf({ dialect }: Pack, { request, context, outcome }: Exchange, other: Answer): ComparedSample {
  const { method, path, query } = request;
  const { status, headers, body } = outcome.response;
  const name = dialect.client.filters?.header?.toLowerCase();
  const token = context.client?.credentials.token;
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    filter: (name === undefined ? undefined : header(request, name)) ?? null,
    ...(context.body && { body: context.body.bytes }),
    old: { status, headers, body },
    new: other,
    calls: callsOf(context),
    tokens: [token, context.upstream?.v4Token].filter((each) => each !== undefined),
  };
}
