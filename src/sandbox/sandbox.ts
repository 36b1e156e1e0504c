/**
 * The embedded sandbox: a v4 service in memory on a port of its own. It knows nothing of the gateway, which
 * reaches it over HTTP like any other v4 service.
 */

import type { ProductWords, RenameString } from "../config/product-words.ts";
import { createRenamer, renameDeep, scopeRenaming } from "../config/product-words.ts";
import type { Clock } from "./clock.ts";
import { movableClock, systemClock } from "./clock.ts";
import { findCallerByToken } from "./http/authentication.ts";
import type { LoggedRequest } from "./http/http-listener.ts";
import { createRequestLog, listen } from "./http/http-listener.ts";
import type { RateLimit } from "./http/request-handler.ts";
import { createSandboxPipeline } from "./http/request-handler.ts";
import { startLoginServer } from "./login/sandbox-login-server.ts";
import { accessTokenSeconds } from "./login/token-endpoint.ts";
import { productNames, scopeAreaWords } from "./product-names.ts";
import { createEndpoints } from "./resource/endpoints.ts";
import type { Resource } from "./resource/resource-declaration.ts";
import { runDueEvents } from "./resource/transitions.ts";
import { resources } from "./resources/all-resources.ts";
import type { AccountSeed, Seeds } from "./seed/seed-file.ts";
import { seedFile } from "./seed/seed-file.ts";
import type { TokenName } from "./seed/seed-users.ts";
import { sandboxToken, tokenNames } from "./seed/seed-users.ts";
import { seed, seedData } from "./seed/seed.ts";
import type { SavedState } from "./store/sandbox-store.ts";
import { createStore, readState, writeState } from "./store/sandbox-store.ts";

export type { SavedState } from "./store/sandbox-store.ts";
export type { TokenName } from "./seed/seed-users.ts";

export interface SandboxOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  /** Of the login server. Default 0: any free one. */
  readonly authPort?: number;
  /** The service's own product words. Default: `vm` and `orch` as they are. */
  readonly words?: ProductWords;
  /** Default: the time of the machine. Every state changes by it. */
  readonly clock?: Clock;
  /** How many instances the main account has. Default 60. */
  readonly instances?: number;
  /** Requests per user (per address without a token). Default 1600 in 120 seconds. */
  readonly rateLimit?: RateLimit;
  /** How long an access token of the login server works, seconds. Default 7200. */
  readonly tokenSeconds?: number;
  /** Accounts besides the two there are: what a seed file says, parsed. In neutral words. */
  readonly data?: unknown;
  /** Wipes everything each Sunday at midnight, Eastern Time, and seeds it anew. Default false. */
  readonly weeklyWipe?: boolean;
}

export interface Sandbox {
  /** `http://127.0.0.1:41234`; `/v4/...` is appended. */
  readonly url: string;
  /** `http://127.0.0.1:41235`, where the login server answers; `/oauth/...` is appended. */
  readonly authUrl: string;
  /**
   * By name: `full` (scopes `*`), `readOnly`, `vms`, `none` of one user, `restricted` and `billing` (`*`) of
   * two restricted ones beside it, `other` (`*`) of a second account, `app` (`vms:read_only`) of an
   * OAuth client, which ends after two hours.
   */
  readonly tokens: Readonly<Record<TokenName, string>>;
  /** An OAuth client that has a secret, to try the login server with; undefined where there is none. */
  application(): { readonly id: string; readonly secret: string } | undefined;
  /** What arrived, the last 200. */
  readonly requests: readonly LoggedRequest[];
  readonly clock: Clock;
  /** Everything there is and everything that is about to happen, as JSON. */
  save(): SavedState;
  /** Goes back to what was saved. @throws {Error} where it is no saved state; nothing is changed then. */
  restore(state: unknown): void;
  /** Wipes everything and seeds it anew. */
  reset(): void;
  /** Moves the clock on by so many milliseconds: what is due by then has happened when the next request comes. */
  advance(ms: number): void;
  close(): Promise<void>;
}

/** A resource whose scopes are in the service's own words. */
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

/** An account whose tokens have scopes in the service's own words. */
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

/** @throws {SeedFault} where the seed data is wrong, {Error} where the port is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = "127.0.0.1", port = 0, words = {}, instances = 60 } = options;
  const clock = movableClock(options.clock ?? systemClock);
  const rename = createRenamer(words, scopeAreaWords);
  const { scopes: renameScope } = scopeRenaming(words, scopeAreaWords);
  const declared: Resource[] = resources.map((each) => renameScopes(renameDeep(each, rename), renameScope));
  const called = renameDeep(productNames, rename);
  const held = createStore(
    clock,
    { ...called, scopeAreas: renameDeep(called.scopeAreas, renameScope) },
    declared,
  );
  const data = renameDeep(seedData, rename);
  const accounts = seedFile(options.data).map((each) => renameTokens(renameDeep(each, rename), renameScope));

  function reset(): void {
    held.restore({ tables: {}, ahead: [] });
    seed(held, data, { instances, accounts });
  }
  reset();

  const byName = new Map(declared.map((each) => [each.name as string, each]));
  const wipe = options.weeklyWipe ? createWeeklyWipe(clock.now(), reset) : () => {};
  const log = createRequestLog();
  const answer = createSandboxPipeline({
    store: held,
    endpoints: declared.flatMap((resource) => createEndpoints(resource, byName)),
    findCaller: (token) => findCallerByToken(held, token),
    rateLimit: options.rateLimit ?? { limit: 1600, seconds: 120 },
    runDueEvents(at) {
      wipe(at);
      runDueEvents(held, at);
    },
  });
  const listener = await listen(answer, log, host, port);
  const { authPort = 0, tokenSeconds = accessTokenSeconds } = options;
  const login = await startLoginServer(held, { host, port: authPort, tokenSeconds }).catch(
    async (error: unknown) => {
      await listener.close();
      throw error;
    },
  );
  return {
    url: listener.url,
    authUrl: login.url,
    tokens: Object.fromEntries(tokenNames.map((name) => [name, sandboxToken(name)])) as Record<
      TokenName,
      string
    >,
    application() {
      const found = [...held.table("client").all()].find(({ hidden }) => hidden?.secret !== undefined);
      return found?.hidden?.secret === undefined
        ? undefined
        : { id: String(found.id), secret: found.hidden.secret };
    },
    requests: log.requests,
    clock,
    save: () => writeState(held),
    restore: (state) => held.restore(readState(state)),
    reset,
    advance: clock.advance,
    async close() {
      await Promise.all([listener.close(), login.close()]);
    },
  };
}

// The weekly wipe: each Sunday at 12:00 AM Eastern Time, daylight saving respected (document 2, What the service does).

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
 * @returns What is told the time before anything else looks at the data, and wipes it when it is due.
 */
export function createWeeklyWipe(start: number, wipe: () => void): (now: number) => void {
  let next = nextSundayMidnight(start);
  return function wipeWhenDue(now) {
    if (now < next) return;
    wipe();
    next = nextSundayMidnight(now);
  };
}

/** The next Sunday midnight after a time. It stands at 4:00 or 5:00 UTC, by the season. */
export function nextSundayMidnight(time: number): number {
  for (let date = Math.floor(time / day) * day; ; date += day) {
    for (const midnight of [date + 4 * hour, date + 5 * hour]) {
      const parts = eastern.formatToParts(midnight);
      const part = (type: string): string | undefined => parts.find((each) => each.type === type)?.value;
      if (midnight > time && part("weekday") === "Sun" && part("hour") === "00") return midnight;
    }
  }
}
