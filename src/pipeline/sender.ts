/** Who sent a request, as far as its context knows. */
import { fingerprint, type TokenInfo } from "../auth/token-cache.ts";
import type { ClientIdentity } from "../clients/client-directory.ts";
import type { AlphaRequest, RequestContext } from "./context.ts";

/** What is known about the token of a request: by authorization, or before it by authentication. */
export const tokenInfoOf = ({
  token,
  client,
}: Pick<RequestContext, "token" | "client">): TokenInfo | undefined =>
  token ? token.info : client?.tokenInfo;

/** What is known of the sender of a request, and whether its application is proven. */
export function identityOf(
  request: Pick<AlphaRequest, "label" | "headers">,
  { client, token, application }: Pick<RequestContext, "client" | "token" | "application">,
): ClientIdentity & { readonly isProven: boolean } {
  const hash = client?.credentials.hash;
  const grant = token?.resolved.grant;
  const issuedTo = typeof grant === "object" ? grant.application : undefined;
  return {
    label: request.label,
    application: issuedTo ?? application?.id,
    isProven: issuedTo !== undefined || application?.isProven === true,
    fingerprint: hash === undefined ? undefined : fingerprint(hash),
    // Not a getter: V8 puts those of plain objects among its old objects, and the request stays with it.
    userAgent: request.headers["user-agent"]?.[0],
  };
}

/**
 * What is known of the sender, with an application only where it is proven: anybody can send the id of one in a call to the
 * login server.
 */
export function provenIdentity(
  request: Pick<AlphaRequest, "label" | "headers">,
  context: Pick<RequestContext, "client" | "token" | "application">,
): ClientIdentity {
  const identity = identityOf(request, context);
  return identity.isProven ? identity : Object.assign(identity, { application: undefined });
}
