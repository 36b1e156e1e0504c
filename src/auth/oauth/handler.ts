import type { RateLimits } from "../../rate-limit/rate-limits.ts";
import { HttpError } from "../../dialect/http-error.ts";
import {
  withLifecycle,
  type LifecycleDependencies,
  type HandlerResult,
  type AlphaHandler,
} from "../../pipeline/lifecycle.ts";
import { hasFragment, type AlphaRequest, type RequestContext } from "../../pipeline/context.ts";
import { enforceRateLimit } from "../../pipeline/stages/rate-limit.ts";
import { redirectToLogin, logout, type AuthorizeDependencies } from "./authorize.ts";
import { exchangeCode, type ExchangeDependencies } from "./exchange-code.ts";
import { revokeToken, type RevokeDependencies } from "./revoke-token.ts";

export interface OAuthDependencies
  extends
    LifecycleDependencies,
    Omit<ExchangeDependencies, "tokenStore" | "requestedScopes">,
    RevokeDependencies,
    Omit<AuthorizeDependencies, "definition" | "requestedScopes"> {
  readonly requestedScopes: AuthorizeDependencies["requestedScopes"] &
    ExchangeDependencies["requestedScopes"];
  readonly tokenStore: ExchangeDependencies["tokenStore"] & RevokeDependencies["tokenStore"];
  readonly limits: RateLimits;
  readonly rateLimitedStatus: number;
}

type Work = (request: AlphaRequest, notes: RequestContext) => Promise<HandlerResult>;

const NOBODY = { token: undefined, hash: undefined };

/** Alpha's calls to the login server, by method and path. Undefined for a request that is none of them. */
export function createOAuthHandler(
  parts: OAuthDependencies,
): (request: AlphaRequest) => AlphaHandler | undefined {
  const { definition, limits, rateLimitedStatus } = parts;
  const works = new Map<string, Work>([
    [
      `GET ${definition.authorize.alpha}`,
      (request, notes) => redirectToLogin(request, notes, { ...parts, definition: definition.authorize }),
    ],
    [`POST ${definition.token.alpha}`, (request, notes) => exchangeCode(request, notes, parts)],
    [`POST ${definition.expire.alpha}`, (request, notes) => revokeToken(request, notes, parts)],
    [
      `GET ${definition.logout.alpha}`,
      async (_, notes) => logout(notes, definition.logout.v4, parts.authOrigin),
    ],
  ]);
  const paths = new Set([...works.keys()].map((name) => name.slice(name.indexOf(" ") + 1)));

  /** Counted by address: nobody has shown yet who it is. */
  async function work(request: AlphaRequest, notes: RequestContext): Promise<HandlerResult> {
    const name = `${request.method} ${request.path}`;
    const answer = works.get(name);
    if (answer) notes.route = name;
    await enforceRateLimit(request, NOBODY, notes, { limits, limitedStatus: rateLimitedStatus });
    if (hasFragment(request)) throw new HttpError(400, "The address has a fragment.");
    if (!answer) throw new HttpError(404, "Not found");
    return answer(request, notes);
  }

  const road = withLifecycle(work, parts);
  return (request) => (paths.has(request.path) ? road : undefined);
}
