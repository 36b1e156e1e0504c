/** Finds out whether v4 accepts a token, with a call that the gateway only makes for this purpose. */
import { judge } from "../auth/permissions.ts";
import { STORE_DOWN, TokenUnavailableError } from "../auth/token-store.ts";
import { fingerprint } from "../auth/token-cache.ts";
import { type Endpoint, type Pack, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import { provenIdentity, RequestContext } from "../request/context.ts";
import type { AuthenticatedClient, ClientToken } from "../request/client.ts";
import type { AlphaRequest } from "../request/request.ts";
import { UpstreamActivity } from "../calls/instrument-call.ts";
import { requestWithoutBody } from "../calls/prepared-request.ts";
import type { Issuer } from "../stages/enforce-plan.ts";
import type { PlanRules } from "../request/plan.ts";
import { resolveToken, type TokenDependencies } from "../stages/resolve-token.ts";
import { type CallDependencies, type CallerRequest, UpstreamCaller } from "../calls/upstream-call.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";

/** Any token may be used for the call that checks it. */
const CHECK = { route: { access: "token" } } as const;

export type ProofDependencies = TokenDependencies & CallDependencies;

interface TokenProof {
  /** A GET that any token may send. Undefined: tokens are not checked. */
  readonly check: Endpoint | undefined;
  readonly creditAddress: CallerRequest["creditAddress"];
  /** Whether requests with the token wait for this check, and the check waits for them. */
  readonly isExclusive: boolean;
  readonly dependencies: ProofDependencies;
}

/** An accepted token, and the application to which it was issued. */
export interface ProvenToken {
  readonly fingerprint: string;
  readonly application: string | undefined;
}

/** Finds a GET that shows whether v4 accepts a token: the pack's, otherwise any call without parameters that is not public. */
export function findTokenCheck({
  tokenCheck,
  routes,
}: Pick<Pack, "tokenCheck" | "routes">): Endpoint | undefined {
  if (tokenCheck) return tokenCheck;
  const calls = routes.flatMap(({ access, source }) =>
    access !== "public" && "call" in source ? [source.call] : [],
  );
  return calls.find(({ method, template }) => method === "GET" && !template.includes("{"));
}

/** Checks a token with v4. @throws {InvalidUpstreamResponseError} if v4 fails */
async function askUpstream(
  check: Endpoint,
  caller: CallerRequest,
  context: Pick<RequestContext, "warnings" | "span" | "upstream">,
  dependencies: CallDependencies,
): Promise<boolean | undefined> {
  const activity = new UpstreamActivity(context.warnings, context.span?.call);
  context.upstream = activity;
  const { status } = await new UpstreamCaller(caller, dependencies, activity).call(
    requestWithoutBody(check, {}),
  );
  if (activity.isTokenAccepted) return true;
  if (status >= 500 || status === TOO_MANY_REQUESTS)
    throw new InvalidUpstreamResponseError(
      `${dependencies.pack.dialect.upstream.name} responded with ${status} to a call that checks a token`,
    );
  return status === 401 ? false : undefined;
}

/** Whether the holder of a token is proven: v4 accepted the token in the last minutes, or accepts it now. */
async function isProven(
  request: AlphaRequest,
  client: AuthenticatedClient,
  token: ClientToken,
  context: RequestContext,
  { check, creditAddress, dependencies }: TokenProof,
): Promise<boolean> {
  const { resolved, info } = token;
  if (client.credentials.error || resolved.credentials.hash === undefined) return false;
  const validity = judge(resolved.issued, info);
  if (validity === "invalid") return false;
  if (validity === "unknown")
    throw new TokenUnavailableError(`${STORE_DOWN}: it is unknown whether the gateway issued a token`);
  if (info || client.credentials.upstream) return true;
  const isIssued = validity === "issued";
  if (!check) return isIssued;
  const caller = { request, match: CHECK, client: client.credentials, token, creditAddress };
  // v4 may refuse this call for a token that the gateway issued.
  return (await askUpstream(check, caller, context, dependencies)) ?? isIssued;
}

/**
 * Proves the holder of a token. The context gets the token only if it is proven, so that an invented token leaves no
 * trace.
 *
 * @returns undefined if there is no proof
 * @throws {InvalidUpstreamResponseError} or {UpstreamError} if v4 fails. {TokenUnavailableError} if it is unknown
 *   whether the gateway issued the token. {HttpError} if the client has too many calls in progress.
 */
export async function proveToken(
  request: AlphaRequest,
  client: AuthenticatedClient,
  context: RequestContext,
  proof: TokenProof,
): Promise<ProvenToken | undefined> {
  const token = await resolveToken(client, proof.isExclusive ? [CHECK] : [], proof.dependencies);
  try {
    if (!(await isProven(request, client, token, context, proof))) return undefined;
  } finally {
    token.release?.();
  }
  context.client = { ...client, isAccepted: true };
  context.token = { ...token, isAccepted: true };
  const { issued } = token.resolved;
  return {
    fingerprint: fingerprint(client.credentials.hash ?? ""),
    application: typeof issued === "object" ? issued.application : undefined,
  };
}

/**
 * Checks an unknown token with v4 before the request is sent to v4.
 *
 * @returns the client with the facts that are known now. v4's response may prove neither acceptance nor rejection
 * @throws as {@link proveToken}
 */
export async function learnToken(
  { readBody: _body, openUpload: _upload, ...request }: AlphaRequest,
  client: AuthenticatedClient,
  proof: TokenProof,
): Promise<AuthenticatedClient> {
  const { hash } = client.credentials;
  if (hash === undefined || client.isAccepted || client.tokenInfo) return client;
  const context = new RequestContext();
  await proveToken(request, client, context, proof);
  const tokenInfo = await proof.dependencies.tokens.get(hash);
  return { ...client, tokenInfo, isAccepted: context.client?.isAccepted === true };
}

/**
 * Returns the plan's decision about a request.
 *
 * @param learn checks an unknown token with v4. It is only called if the plan needs this
 * @throws the errors of {@link PlanRules.judge}
 */
export function askPlan(
  request: AlphaRequest,
  context: RequestContext,
  plan: Pick<PlanRules, "judge">,
  issuer: Issuer,
  learn: () => Promise<AuthenticatedClient>,
): ReturnType<PlanRules["judge"]> {
  if (!context.match) return undefined;
  async function isAccepted(): Promise<boolean> {
    const { tokenInfo } = await learn();
    return tokenInfo?.refused !== true;
  }
  // A token that the gateway issued is not checked with v4: the gateway received v4's token from the login server.
  const proof = {
    address: request.address,
    isAccepted: issuer !== "unknown" && issuer?.isProven ? () => true : isAccepted,
  };
  const identity = () => provenIdentity(request, context);
  return plan.judge(identity, context.match.route.name, issuer === "unknown" ? undefined : proof);
}
