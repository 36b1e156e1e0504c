import type { Pack } from "../mapping/pack.ts";
import { createLoginServer, type LoginServer } from "../auth/oauth/login-server.ts";
import type { Settings } from "../config/schema.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { createStoreEpoch, type StoreEpoch } from "../auth/oauth/store-epoch.ts";
import { createTokenStore, type TokenStore } from "../auth/token-store.ts";
import { createTokenRecords } from "../auth/token-records.ts";
import { createGatewayTokens } from "../auth/gateway-tokens.ts";
import { createTokenRefresh, type TokenIssuer } from "../auth/token-refresh.ts";
import { createEncryptor } from "../auth/encryption.ts";
import type { Tracing } from "../observability/tracing/tracing.ts";
import { createUpstream, type Upstream } from "../upstream/client.ts";
import { gatewaySecret } from "./gateway-secret.ts";
import type { Log } from "../observability/log.ts";

/** The tokens that the gateway's own exchange hands out, and who issues them. */
export interface OAuthServices {
  readonly tokenStore: TokenStore;
  /** Undefined without a login server. */
  readonly login: LoginServer | undefined;
  /** Tells of a state store that was emptied since the start. */
  readonly epoch: StoreEpoch;
  close(): Promise<void>;
}

export interface OAuthServicesOptions {
  readonly pack: Pack;
  readonly state: KeyValueStore;
  readonly authOrigin: URL | undefined;
  readonly log: Log;
  readonly tracing: Tracing | undefined;
}

/** Answers of a login server are small, and nobody waits for one as long as for v4. */
const MOST_TIMEOUT_MS = 10_000;
const ANSWER_LIMIT = 65_536;
const MOST_CONNECTIONS = 16;

/** Tokens that were handed out before there was no login server any more: their levels hold, nobody renews them. */
const NO_ISSUER: TokenIssuer = {
  renew: () => Promise.reject(new Error("there is no login server")),
  discard: async () => {},
  timeoutSeconds: 0,
};

/** Opens the book of tokens that were handed out. @throws {StateUnavailable} where the secret can't be used */
export function openOAuthServices(
  settings: Settings,
  { pack, state, authOrigin, log, tracing }: OAuthServicesOptions,
): OAuthServices {
  const { scopes, dialect } = pack;
  const clock = Date.now;
  const timeoutMs = Math.min(settings.UPSTREAM_TIMEOUT_MS, MOST_TIMEOUT_MS);
  let upstream: Upstream | undefined;
  let login: LoginServer | undefined;
  const secret = gatewaySecret(settings);
  const own = createGatewayTokens(secret);
  if (authOrigin && dialect.oauth) {
    const connections = Math.min(settings.UPSTREAM_CONNECTIONS, MOST_CONNECTIONS);
    upstream = createUpstream({ origin: authOrigin, timeoutMs, connections, maxResponseBytes: ANSWER_LIMIT });
    const { oauth: definition, statuses } = dialect;
    login = createLoginServer({ definition, statuses, upstream, timeoutMs, beginCall: tracing?.startCall });
  }
  const records = createTokenRecords({
    store: state,
    encryptor: createEncryptor(secret),
    own,
    size: settings.TOKEN_CACHE_SIZE,
  });
  const renew = createTokenRefresh({ records, store: state, issuer: login ?? NO_ISSUER, scopes, clock });
  const grants = createTokenStore({
    records,
    own,
    refresh: renew,
    scopes,
    clock,
    onError: (error) =>
      log.warn(
        { code: "AG_TOKEN_REFRESH_FAILED", error: (error as Error).message },
        "a token could not be refreshed or read",
      ),
  });
  return {
    tokenStore: grants,
    login,
    epoch: createStoreEpoch(state),
    async close() {
      await upstream?.close();
    },
  };
}
