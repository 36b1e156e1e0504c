import type { Endpoint } from "../mapping/compile/endpoint.ts";
import type { Pack } from "../mapping/pack.ts";
import type { JsonObject } from "../mapping/translation-context.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { TranslationConfig } from "./stages/build-response.ts";
import type { StreamUpstream } from "./stages/file-streamer.ts";
import type { CallUpstream, UpstreamRequest } from "./stages/call-upstream.ts";
import type { TokenScopes } from "./stages/token-scopes.ts";
import type { ResponseCache } from "./response-cache.ts";
import type { AlphaRequest, RequestContext, RouteMatch } from "./context.ts";

/** Upstream requests that one client request may have in flight. */
export const MAX_CONCURRENT_REQUESTS = 8;

/** What the stops between admission and answer share: one admitted request, and the ways to v4. */
export interface RouteExecution {
  readonly request: AlphaRequest;
  /** The JSON body of the request. @throws {Refusal} 400 for anything else */
  readonly sent: () => JsonObject;
  readonly match: RouteMatch;
  readonly pack: Pack;
  readonly translation: TranslationConfig;
  readonly catalogs: CatalogCache;
  readonly call: CallUpstream;
  readonly streamFile: StreamUpstream;
  /** Answers that may be used again, and the hash of the token that they belong to. */
  readonly cache: ResponseCache;
  readonly tokenHash: string | undefined;
  /** For routes whose answers carry tokens. */
  readonly levels: TokenScopes;
  /** Whether the caller's token is known to have no scope at all. */
  readonly lacksScopes: () => boolean | Promise<boolean>;
  readonly context: RequestContext;
}

/** A v4 call with what must be known of it when v4 refuses. */
export interface PreparedRequest extends UpstreamRequest {
  /** Names of v4 members that the gateway put in by itself. */
  readonly gatewayFields: ReadonlySet<string>;
  /** The alpha body that it was made from, in its documented form. */
  readonly alpha?: JsonObject;
  /** Whether the client sent a member, by its alpha name. */
  readonly clientSent: (member: string) => boolean;
}

const NOTHING_ADDED: ReadonlySet<string> = new Set();

/** A call without a body, its path filled in. */
export const requestWithoutBody = (
  { method, path }: Endpoint,
  values: Readonly<Record<string, unknown>>,
): PreparedRequest => ({
  method,
  path: path(values),
  gatewayFields: NOTHING_ADDED,
  clientSent: () => false,
});
