/** Reads the sender of a request, before its token is checked. */
import type { Sender } from "../auth/known-senders.ts";
import type { Pack } from "../../pack/index.ts";
import type { GatewayTokens } from "../auth/gateway-secret.ts";
import { TokenStore } from "../auth/token-store.ts";
import type { AlphaRequest } from "../request/request.ts";
import { tokenHash, fingerprint } from "../auth/token-cache.ts";
import { findIssuer } from "../stages/enforce-plan.ts";
/** The sender of a request, and whether the old service can't accept the token because the gateway issued it. */
export interface RequestSender extends Sender {
  readonly token?: string | undefined;
  readonly hasGatewayToken: boolean;
}

/** Reads the sender of a request to the API. The sender only includes an application if the gateway issued the token. */
export function createSenderReader({
  pack,
  oauth,
}: {
  readonly pack: Pick<Pack, "credentials">;
  readonly oauth: {
    readonly gatewayTokens: Pick<GatewayTokens, "isGatewayToken">;
    readonly tokenStore: Pick<TokenStore, "find">;
  };
}): (plain: AlphaRequest) => RequestSender | Promise<RequestSender> {
  const { client } = pack.credentials;
  return function readSender(plain) {
    const found = client?.read(plain);
    const token = found && "token" in found ? found.token : undefined;
    const hash = token === undefined ? undefined : tokenHash(token);
    const identity = {
      label: plain.label,
      fingerprint: hash === undefined ? undefined : fingerprint(hash),
      userAgent: plain.headers["user-agent"]?.[0],
    };
    if (token === undefined || !oauth.gatewayTokens.isGatewayToken(token))
      return { identity, token, hash, hasGatewayToken: false };
    return findIssuer({ token, hash }, oauth.tokenStore).then((issuer) => ({
      identity: { ...identity, application: typeof issuer === "object" ? issuer.id : undefined },
      token,
      hash,
      hasGatewayToken: true,
    }));
  };
}
