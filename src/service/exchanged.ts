import type { Pack } from "../mapping/pack.ts";
import { createLoginServer, type LoginServer } from "../oauth/login-server.ts";
import type { Settings } from "../settings/table.ts";
import type { KeyedStore } from "../shared-state/keyed-store.ts";
import { createGrantBook, type GrantBook } from "../tokens/grants.ts";
import { createGrantRecords } from "../tokens/grant-records.ts";
import { createOwnTokens } from "../tokens/own-tokens.ts";
import { createRenewal, type TokenIssuer } from "../tokens/renewal.ts";
import { createSeal } from "../tokens/seal.ts";
import type { Tracing } from "../tracing/span.ts";
import { createUpstream, type Upstream } from "../upstream/client.ts";
import { gatewaySecret } from "./gateway-secret.ts";
import type { Log } from "./log.ts";

/** The tokens that the gateway's own exchange hands out, and who issues them. */
export interface Exchanged {
  readonly grants: GrantBook;
  /** Undefined without a login server. */
  readonly login: LoginServer | undefined;
  close(): Promise<void>;
}

export interface ExchangedParts {
  readonly pack: Pack;
  readonly state: KeyedStore;
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
  mostSeconds: 0,
};

/** Opens the book of tokens that were handed out. @throws {StateUnavailable} where the secret can't be used */
export function openExchanged(
  settings: Settings,
  { pack, state, authOrigin, log, tracing }: ExchangedParts,
): Exchanged {
  const { scopes, dialect } = pack;
  const clock = Date.now;
  const timeoutMs = Math.min(settings.UPSTREAM_TIMEOUT_MS, MOST_TIMEOUT_MS);
  let upstream: Upstream | undefined;
  let login: LoginServer | undefined;
  const secret = gatewaySecret(settings);
  const own = createOwnTokens(secret);
  if (authOrigin && dialect.oauth) {
    const connections = Math.min(settings.UPSTREAM_CONNECTIONS, MOST_CONNECTIONS);
    upstream = createUpstream({ origin: authOrigin, timeoutMs, connections, answerLimit: ANSWER_LIMIT });
    const { oauth: definition, statuses } = dialect;
    login = createLoginServer({ definition, statuses, upstream, timeoutMs, beginCall: tracing?.call });
  }
  const records = createGrantRecords({
    store: state,
    seal: createSeal(secret),
    own,
    size: settings.TOKEN_CACHE_SIZE,
  });
  const renew = createRenewal({ records, store: state, issuer: login ?? NO_ISSUER, scopes, clock });
  const grants = createGrantBook({
    records,
    own,
    renew,
    scopes,
    clock,
    onTrouble: (error) =>
      log.warn({ error: (error as Error).message }, "a token could not be renewed or read"),
  });
  return {
    grants,
    login,
    async close() {
      await upstream?.close();
    },
  };
}
