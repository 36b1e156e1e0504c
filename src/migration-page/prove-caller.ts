/** Who reads the page: the holder of a token that v4 accepts, or an application whose secret the login server accepts. */
import { TokenUnavailableError } from "../auth/token-store.ts";
import { fingerprint } from "../auth/token-cache.ts";
import { TOO_MANY_REQUESTS } from "../dialect/statuses.ts";
import type { Endpoint } from "../mapping/compile/endpoint.ts";
import type { Pack } from "../mapping/pack.ts";
import type { ApplicationCredentials } from "../oauth/basic-credentials.ts";
import type { LoginServer } from "../oauth/login-server.ts";
import type { AlphaRequest, AuthenticatedClient, RequestContext } from "../pipeline/context.ts";
import { createUpstreamActivity } from "../pipeline/instrument-call.ts";
import { requestWithoutBody } from "../pipeline/prepared-request.ts";
import { resolveToken, type ClientToken, type TokenDependencies } from "../pipeline/stages/authorize.ts";
import { UpstreamCaller, type CallDependencies, type CallerRequest } from "../pipeline/upstream-call.ts";
import { InvalidUpstreamResponseError } from "../pipeline/upstream-response.ts";

/** Whose calls the page shows. */
export type Caller =
  | { readonly kind: "token"; readonly fingerprint: string; readonly application: string | undefined }
  | { readonly kind: "application"; readonly application: string };

export interface ProofDependencies extends TokenDependencies, Omit<CallDependencies, "tokens"> {
  readonly tokens: CallDependencies["tokens"];
  readonly pack: Pack;
  /** Undefined without a login server: then applications can't read their page. */
  readonly login: LoginServer | undefined;
}

/** Any token may make the call that checks it. */
const CHECK = { route: { access: "token" } } as const;

/** A GET that shows whether v4 accepts a token: that of the pack, else any call without parameters that is not public. */
export function findTokenCheck({ tokenCheck, routes }: Pack): Endpoint | undefined {
  if (tokenCheck) return tokenCheck;
  const calls = routes.flatMap(({ access, source }) =>
    access !== "public" && "call" in source ? [source.call] : [],
  );
  return calls.find(({ method, template }) => method === "GET" && !template.includes("{"));
}

/** Asks v4 about a token. @throws {InvalidUpstreamResponseError} where v4 fails */
async function askUpstream(
  check: Endpoint,
  caller: CallerRequest,
  context: Pick<RequestContext, "warnings" | "span" | "upstream">,
  dependencies: CallDependencies,
): Promise<boolean | undefined> {
  const activity = createUpstreamActivity(context.warnings, context.span?.call);
  context.upstream = activity;
  const { status } = await new UpstreamCaller(caller, dependencies, activity).call(
    requestWithoutBody(check, {}),
  );
  if (activity.isTokenAccepted) return true;
  if (status >= 500 || status === TOO_MANY_REQUESTS)
    throw new InvalidUpstreamResponseError(
      `${dependencies.dialect.name} responded with ${status} to a call that checks a token`,
    );
  return status === 401 ? false : undefined;
}

/** Whether the holder of a token is known: v4 has accepted the token in the last minutes, or accepts it now. */
async function isProven(
  request: AlphaRequest,
  client: AuthenticatedClient,
  token: ClientToken,
  context: RequestContext,
  { check, creditAddress, dependencies }: TokenProof,
): Promise<boolean> {
  const { resolved, info } = token;
  const { grant } = resolved;
  const isIssued = typeof grant === "object";
  if (client.credentials.error || resolved.credentials.hash === undefined) return false;
  if (info?.refused || (isIssued && grant.isRevoked)) return false;
  if (grant === "unknown")
    throw new TokenUnavailableError("the state store does not say whether the gateway issued a token");
  if (info || client.credentials.upstream) return true;
  if (!check) return isIssued;
  const caller = { request, match: CHECK, client: client.credentials, token, creditAddress };
  // v4 may refuse the call itself to a token that the gateway has issued.
  return (await askUpstream(check, caller, context, dependencies)) ?? isIssued;
}

export interface TokenProof {
  readonly check: Endpoint | undefined;
  readonly creditAddress: CallerRequest["creditAddress"];
  readonly dependencies: ProofDependencies;
}

/**
 * Proves the holder of a token. The context gets the token only if it is proven: a made-up one leaves no trace.
 *
 * @returns undefined for everybody else
 */
export async function proveToken(
  request: AlphaRequest,
  client: AuthenticatedClient,
  context: RequestContext,
  proof: TokenProof,
): Promise<Caller | undefined> {
  const token = await resolveToken(client, [CHECK], proof.dependencies);
  try {
    if (!(await isProven(request, client, token, context, proof))) return undefined;
  } finally {
    token.release?.();
  }
  context.client = { ...client, isAccepted: true };
  context.token = { ...token, isAccepted: true };
  const { grant } = token.resolved;
  return {
    kind: "token",
    fingerprint: fingerprint(client.credentials.hash ?? ""),
    application: typeof grant === "object" ? grant.application : undefined,
  };
}

/** Proves an application by its id and its secret. @returns undefined if the login server does not accept them */
export async function proveApplication(
  credentials: ApplicationCredentials,
  context: RequestContext,
  login: LoginServer,
): Promise<Caller | undefined> {
  const { client, secret } = credentials;
  if (client === "" || secret === "") return undefined;
  const activity = createUpstreamActivity(context.warnings, context.span?.call);
  context.upstream = activity;
  if (!(await login.authenticate(credentials, activity))) return undefined;
  context.application = { id: client, isProven: true };
  return { kind: "application", application: client };
}
