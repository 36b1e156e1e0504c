import accepts from "accepts";
import { createDescriptionHandler, createPageHandler } from "./handlers.ts";
import { pagePathsOf } from "./page-paths.ts";
import type { Settings } from "../../base/index.ts";
import {
  createCredentialsReader,
  createPipelineConfig,
  createResponseCache,
  type GuardOptions,
  type Middleware,
  type OAuthServices,
  passOn,
  plainRequestOf,
  type SharedState,
  type TokenLocks,
  type UpstreamClient,
  type UpstreamTokens,
  READ_METHODS,
} from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { AuditStore } from "../../audit/index.ts";
import type { PageState } from "./page-cache.ts";
import type { PlanInForce } from "../plan/rules.ts";

/** The services that the pages need. */
interface PageParts {
  readonly pack: Pack;
  readonly audit: AuditStore | undefined;
  /** The state of the migration pages; undefined if they are off. */
  readonly migrationPages: PageState | undefined;
  readonly plan: PlanInForce;
  readonly oauth: Pick<OAuthServices, "login" | "tokenStore">;
  readonly shared: Pick<SharedState, "limits" | "tokens">;
  readonly tokenLocks: TokenLocks;
  readonly upstream: UpstreamClient;
  /** The listed v4 tokens; undefined if the clients' tokens are sent to v4. */
  readonly upstreamTokens: UpstreamTokens | undefined;
}

/** Serves the pages for clients. All other requests are passed on. */
export function createMigrationPages(
  settings: Settings,
  dependencies: PageParts,
  { lifecycle, toMiddleware }: GuardOptions,
): Middleware {
  const { pack, audit, migrationPages: pages, oauth, shared, upstream, upstreamTokens } = dependencies;
  if (!pages || !audit) return passOn;
  const pageDependencies = {
    ...createPipelineConfig(pack, settings),
    ...lifecycle,
    plan: dependencies.plan,
    store: audit,
    quietDays: settings.QUIET_DAYS,
    limits: shared.limits,
    pages,
    readCredentials: createCredentialsReader({
      credentials: pack.credentials,
      nativeScheme: undefined,
      upstreamTokens,
    }),
    tokens: shared.tokens,
    tokenLocks: dependencies.tokenLocks,
    tokenStore: oauth.tokenStore,
    login: oauth.login?.withStatuses(pack.statuses),
    upstream,
    files: upstream,
    responseCache: createResponseCache(),
    upstreamTokens,
  };
  const json = toMiddleware(createPageHandler("json", pageDependencies));
  const html = toMiddleware(createPageHandler("html", pageDependencies));
  const description = toMiddleware(createDescriptionHandler(pageDependencies));
  const paths = pagePathsOf(pack);
  return function serveMigrationPages(request, response, next) {
    const { method, path: sent } = plainRequestOf(response);
    // As in other paths, a slash at the end has no effect.
    const path = sent.endsWith("/") ? sent.slice(0, -1) : sent;
    if (!READ_METHODS.has(method)) return next();
    if (path === paths.description) return description(request, response, next);
    if (path !== paths.page) return next();
    const page = accepts(request).type(["json", "html"]) === "html" ? html : json;
    return page(request, response, next);
  };
}
