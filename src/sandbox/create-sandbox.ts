/**
 * The embedded sandbox: an in-memory v4 service on its own port. It does not depend on the gateway, which
 * reaches it over HTTP like any other v4 service.
 */

import type { RequestListener } from "node:http";
import {
  createRenamer,
  type ProductWords,
  renameDeep,
  type RenameString,
  scopeRenaming,
} from "../base/index.ts";
import type { Clock } from "./clock.ts";
import { movableClock, systemClock } from "./clock.ts";
import { findCallerByToken, hasToken } from "./http/authentication.ts";
import { createRouter } from "./http/endpoint-router.ts";
import type { LoggedRequest } from "./http/http-listener.ts";
import { createRequestListener, createRequestLog, listen } from "./http/http-listener.ts";
import { createSandboxPipeline } from "./http/request-handler.ts";
import type { RateLimit } from "./http/request-types.ts";
import { createLoginListener } from "./login/sandbox-login-server.ts";
import { accessTokenSeconds } from "./login/token-endpoint.ts";
import { productNames, scopeAreaWords } from "./product-names.ts";
import { createEndpoints } from "./resource/endpoints.ts";
import type { Resource } from "./resource/resource-declaration.ts";
import { runDueEvents } from "./resource/transitions.ts";
import { resources } from "./resources/all-resources.ts";
import type { AccountSeed, Seeds } from "./seed/seed-file.ts";
import { seedFile } from "./seed/seed-file.ts";
import type { TokenName } from "./seed/seed-users.ts";
import { sandboxTokens } from "./seed/seed-users.ts";
import { seed, seedData } from "./seed/seed.ts";
import type { SavedState } from "./store/sandbox-store.ts";
import { createStore, readState, writeState } from "./store/sandbox-store.ts";

export type { SavedState } from "./store/sandbox-store.ts";
export type { TokenName } from "./seed/seed-users.ts";

export interface ServiceOptions {
  /** Product words of the service. If omitted, `vm` and `orch`. */
  readonly words?: ProductWords;
  /** The clock of all state changes. If omitted, the system clock. */
  readonly clock?: Clock;
  /** Number of instances of the main account. If omitted, 60. */
  readonly instances?: number;
  /** Limit on requests per user, or per address without a token. If omitted, 1600 in 120 seconds. */
  readonly rateLimit?: RateLimit;
  /** Lifetime of access tokens of the login server, in seconds. If omitted, 7200. */
  readonly tokenSeconds?: number;
  /** Parsed seed file with additional accounts, in the neutral product words. */
  readonly data?: unknown;
  /** Whether to reset all data each Sunday at midnight, Eastern Time. If omitted, false. */
  readonly weeklyWipe?: boolean;
}

export interface SandboxOptions extends ServiceOptions {
  /** Address that the sandbox listens on. If omitted, `127.0.0.1`. */
  readonly host?: string;
  /** Port that the sandbox listens on. 0, the default, selects any free port. */
  readonly port?: number;
  /** Port of the login server. 0, the default, selects any free port. */
  readonly authPort?: number;
}

/** The sandbox without listening servers. */
export interface SandboxService {
  /** Handles requests to `/v4/...`. */
  readonly listener: RequestListener;
  /** Handles requests to the login server. */
  readonly loginListener: RequestListener;
  /**
   * Tokens by name: `full` (scopes `*`), `readOnly`, `vms`, `none` of one user; `restricted` and `billing` (`*`) of
   * two restricted users of the same account; `other` (`*`) of a second account; `app` (`vms:read_only`) of an
   * OAuth client, which expires after two hours.
   */
  readonly tokens: Readonly<Record<TokenName, string>>;
  /** Whether the service has an endpoint for this method and path, `/v4/...`. */
  serves(method: string, path: string): boolean;
  /** Returns an OAuth client with a secret, to try the login server; undefined if none exists. */
  application(): { readonly id: string; readonly secret: string } | undefined;
  /** The last 200 requests. */
  readonly requests: readonly LoggedRequest[];
  readonly clock: Clock;
  /** Returns all rows and pending changes as JSON. */
  save(): SavedState;
  /** Restores a saved state. @throws {Error} if it is not a saved state; nothing is changed then. */
  restore(state: unknown): void;
  /** Deletes all data and seeds it again. */
  reset(): void;
  /** Advances the clock by `ms` milliseconds. The next request applies all changes that are due by then. */
  advance(ms: number): void;
}

export interface Sandbox extends SandboxService {
  /** Base URL of the sandbox, e.g. `http://127.0.0.1:41234`; `/v4/...` is appended. */
  readonly url: string;
  /** Base URL of the login server, e.g. `http://127.0.0.1:41235`; `/oauth/...` is appended. */
  readonly authUrl: string;
  close(): Promise<void>;
}

/** Returns the resource with its scopes in the configured product words. */
function renameScopes(resource: Resource, rename: RenameString): Resource {
  const { area, scopes, actions } = resource;
  return {
    ...resource,
    ...(area !== undefined && { area: rename(area) }),
    ...(scopes && { scopes: renameDeep(scopes, rename) }),
    ...(actions && {
      actions: actions.map((action) =>
        action.scopes ? { ...action, scopes: renameDeep(action.scopes, rename) } : action,
      ),
    }),
  };
}

/** Returns the account with the scopes of its tokens in the configured product words. */
function renameTokens(account: AccountSeed, rename: RenameString): AccountSeed {
  const inWords = (items: Seeds = []): Seeds =>
    items.map((item) => ({
      ...item,
      ...("scopes" in item && { scopes: renameDeep(item["scopes"], rename) }),
    }));
  const users = account.users.map((user) => ({
    ...user,
    tokens: inWords(user.tokens),
    apps: inWords(user.apps),
  }));
  return { ...account, users };
}

/** Starts the sandbox and its login server. @throws {SeedError} for invalid seed data, {Error} if a port is in use. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = "127.0.0.1", port = 0, authPort = 0 } = options;
  const service = createSandbox(options);
  const api = await listen(service.listener, host, port);
  const login = await listen(service.loginListener, host, authPort).catch(async (error: unknown) => {
    await api.close();
    throw error;
  });
  return {
    ...service,
    url: api.url,
    authUrl: login.url,
    async close() {
      await Promise.all([api.close(), login.close()]);
    },
  };
}

/** Creates the sandbox and its login server without listening. @throws {SeedError} for invalid seed data. */
export function createSandbox(options: ServiceOptions = {}): SandboxService {
  const { words = {}, instances = 60, tokenSeconds = accessTokenSeconds } = options;
  const clock = movableClock(options.clock ?? systemClock);
  const rename = createRenamer(words, scopeAreaWords);
  const { scopes: renameScope } = scopeRenaming(words, scopeAreaWords);
  const declared: Resource[] = resources.map((each) => renameScopes(renameDeep(each, rename), renameScope));
  const called = renameDeep(productNames, rename);
  const store = createStore(
    clock,
    { ...called, scopeAreas: renameDeep(called.scopeAreas, renameScope) },
    declared,
  );
  const data = renameDeep(seedData, rename);
  const accounts = seedFile(options.data).map((each) => renameTokens(renameDeep(each, rename), renameScope));

  function reset(): void {
    store.restore({ tables: {}, ahead: [] });
    seed(store, data, { instances, accounts });
  }
  reset();

  const byName = new Map<string, Resource>(declared.map((each) => [each.name, each]));
  const wipe = options.weeklyWipe ? createWeeklyWipe(clock.now(), reset) : () => {};
  const log = createRequestLog();
  const findCaller = (token: string) => findCallerByToken(store, token);
  const endpoints = declared.flatMap((resource) => createEndpoints(resource, byName));
  const routes = createRouter(endpoints);
  const handleRequest = createSandboxPipeline({
    store,
    endpoints,
    findCaller,
    rateLimit: options.rateLimit ?? { limit: 1600, seconds: 120 },
    runDueEvents(at) {
      wipe(at);
      runDueEvents(store, at);
    },
  });
  return {
    listener: createRequestListener(handleRequest, (header) => hasToken(header, findCaller), log),
    loginListener: createLoginListener(store, tokenSeconds),
    tokens: sandboxTokens,
    serves(method, path) {
      const [, version, ...segments] = path.split("/");
      return version === "v4" && routes.find(method, segments) !== undefined;
    },
    application() {
      const found = [...store.table("client").all()].find(({ hidden }) => hidden?.secret !== undefined);
      return found?.hidden?.secret === undefined
        ? undefined
        : { id: String(found.id), secret: found.hidden.secret };
    },
    requests: log.requests,
    clock,
    save: () => writeState(store),
    restore: (state) => store.restore(readState(state)),
    reset,
    advance: clock.advance,
  };
}

// The weekly wipe: each Sunday at 12:00 AM Eastern Time, with daylight saving time.

const hour = 3_600_000;
const day = 24 * hour;

const eastern = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  weekday: "short",
  hour: "2-digit",
  hourCycle: "h23",
});

/**
 * @param start When the data was seeded, in milliseconds.
 * @returns A function to call with the current time before each request; it resets the data when due.
 */
function createWeeklyWipe(start: number, wipe: () => void): (now: number) => void {
  let next = nextSundayMidnight(start);
  return function wipeWhenDue(now) {
    if (now < next) return;
    wipe();
    next = nextSundayMidnight(now);
  };
}

/** Returns the first Sunday midnight (Eastern Time) after a time: 4:00 or 5:00 UTC, depending on daylight saving. */
function nextSundayMidnight(time: number): number {
  for (let date = Math.floor(time / day) * day; ; date += day) {
    for (const midnight of [date + 4 * hour, date + 5 * hour]) {
      const parts = eastern.formatToParts(midnight);
      const part = (type: string): string | undefined => parts.find((each) => each.type === type)?.value;
      if (midnight > time && part("weekday") === "Sun" && part("hour") === "00") return midnight;
    }
  }
}
