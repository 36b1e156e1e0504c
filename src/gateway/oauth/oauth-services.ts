import { errorText, type KeyValueStore, type Log, type Settings, type Tracing } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import { LoginServer } from "./login-server.ts";
import { createStoreEpoch } from "./store-epoch.ts";
import { TokenStore } from "../auth/token-store.ts";
import { fingerprint } from "../auth/token-cache.ts";
import { TokenRecords } from "../auth/token-records.ts";
import { createEncryptor, createGatewayTokens, readGatewaySecret } from "../auth/gateway-secret.ts";
import type { TokenIssuer } from "../auth/token-refresh.ts";
import { createUpstream } from "../upstream/client.ts";
import type { Upstream } from "../upstream/http-call.ts";
import type { CurrentContext } from "../upstream/open-tls.ts";

/** The tokens that the gateway issues in its OAuth exchange, and the login server behind them. */
export type OAuthServices = ReturnType<typeof openOAuthServices>;

interface OAuthServicesOptions {
  readonly pack: Pack;
  readonly state: KeyValueStore;
  readonly authOrigin: URL | undefined;
  readonly log: Log;
  readonly tracing: Tracing | undefined;
  /** The certificates of connections to the login server. Default: Node's own. */
  readonly secureContext?: CurrentContext | undefined;
}

/** Maximum time-out in milliseconds. Responses of a login server are small, and clients wait for them in a browser. */
const MAX_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 65_536;
const MAX_CONNECTIONS = 16;

/** Used without a login server: tokens that were issued earlier keep their levels, and are not refreshed. */
const NO_ISSUER: TokenIssuer = {
  refresh: () => Promise.reject(new Error("there is no login server")),
  discard: async () => {},
  timeoutSeconds: 0,
};

/**
 * Warns about the first record that can't be read. After a change of the secret, no record can be read, so a process
 * only logs one line.
 */
function warnOfFirst(log: Log): (hash: string) => void {
  let hasWarned = false;
  return function warnOfRecord(hash) {
    if (hasWarned) return;
    hasWarned = true;
    log.warn(
      { code: "AG_TOKEN_RECORD_DAMAGED", fingerprint: fingerprint(hash) },
      "the record of a token can't be decrypted, so the token is rejected. The secret changed, or the record is damaged",
    );
  };
}

/** Opens the store of issued tokens. @throws {StateUnavailableError} If the gateway secret can't be used. */
export function openOAuthServices(
  settings: Settings,
  { pack, state, authOrigin, log, tracing, secureContext }: OAuthServicesOptions,
) {
  const { scopes, dialect, statuses } = pack;
  const timeoutMs = Math.min(settings.UPSTREAM_TIMEOUT_MS, MAX_TIMEOUT_MS);
  let upstream: Upstream | undefined;
  let login: LoginServer | undefined;
  const secret = readGatewaySecret(settings);
  const gatewayTokens = createGatewayTokens(secret);
  if (authOrigin && dialect.oauth) {
    const connections = Math.min(settings.UPSTREAM_CONNECTIONS, MAX_CONNECTIONS);
    upstream = createUpstream({
      name: "the login server",
      origin: authOrigin,
      timeoutMs,
      connections,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      secureContext,
    });
    const { oauth: definition } = dialect;
    login = new LoginServer({ definition, statuses, upstream, timeoutMs, startCall: tracing?.startCall });
  }
  const records = new TokenRecords({
    store: state,
    encryptor: createEncryptor(secret),
    gatewayTokens,
    size: settings.TOKEN_CACHE_SIZE,
    onDamaged: warnOfFirst(log),
  });
  const tokenStore = new TokenStore({
    records,
    gatewayTokens,
    store: state,
    issuer: login ?? NO_ISSUER,
    scopes,
    clock: Date.now,
    onError: (error) =>
      log.warn(
        { code: "AG_TOKEN_REFRESH_FAILED", error: errorText(error) },
        "a token could not be refreshed or read",
      ),
  });
  return {
    tokenStore,
    gatewayTokens,
    /** Undefined if there is no login server. */
    login,
    /** Detects whether the state store was emptied since the start. */
    epoch: createStoreEpoch(state),
    async close(): Promise<void> {
      await upstream?.close();
    },
  };
}
