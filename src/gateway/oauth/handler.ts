import type { RateLimits } from "../limits/rate-limits.ts";
import { HttpError, type OAuthDefinition, readParameters } from "../../pack/index.ts";
import { type AlphaHandler, type LifecycleDependencies, withLifecycle } from "../pipeline/lifecycle.ts";
import type { HandlerResult } from "../request/response.ts";
import { UpstreamActivity } from "../calls/instrument-call.ts";
import { type ApplicationId, provenIdentity, type RequestContext } from "../request/context.ts";
import { ANONYMOUS } from "../request/client.ts";
import { type AlphaRequest, hasFragment } from "../request/request.ts";
import { enforcePlan } from "../stages/enforce-plan.ts";
import { consumeRateLimit, rejectLimited } from "../stages/rate-limit.ts";
import { readBasicCredentials } from "./read-form.ts";
import {
  exchangeCode,
  type LoginCallParts,
  logout,
  redirectToLogin,
  revokeToken,
  SIGN_INS,
  SIGN_OUTS,
} from "./login-calls.ts";

interface OAuthDependencies extends LifecycleDependencies, LoginCallParts {
  readonly limits: RateLimits;
}

type Handler = (
  request: AlphaRequest,
  context: RequestContext,
  activity: UpstreamActivity,
) => Promise<HandlerResult>;

/** Alpha's calls to the login server, and the handler for other methods of their paths. */
export type OAuthRoutes = ReturnType<typeof createOAuthRoutes>;

/** Returns the id of the application in a call's form, query or credentials. Any client can send any id. */
function namedApplication(
  request: AlphaRequest,
  { body }: Pick<RequestContext, "body">,
  { client_id: inForm, authorize }: OAuthDefinition,
): ApplicationId | undefined {
  const [, sent] = body?.form?.find(([name]) => name === inForm) ?? [];
  const [inQuery = ""] = authorize.pass;
  const inParameters = typeof sent === "string" ? sent : readParameters(request.query).get(inQuery);
  const id = inParameters || readBasicCredentials(request)?.client;
  return id ? { id, isProven: false } : undefined;
}

/** Creates the handlers of alpha's calls to the login server. Each call is rate-limited and audited. */
export function createOAuthRoutes(dependencies: OAuthDependencies) {
  const { definition, limits, authOrigin, plan } = dependencies;

  const createHandler = (route: string | undefined, handle: Handler): AlphaHandler =>
    withLifecycle(async (request, context) => {
      if (route !== undefined) context.route = route;
      const { status } = await consumeRateLimit(request, ANONYMOUS, undefined, limits);
      context.rateLimitStatus = status;
      rejectLimited(status);
      if (hasFragment(request)) throw new HttpError(400, "The address has a fragment.");
      context.upstream = new UpstreamActivity(context.warnings, context.span?.call);
      try {
        return await handle(request, context, context.upstream);
      } finally {
        context.application ??= namedApplication(request, context, definition);
      }
    }, dependencies);

  /** Creates one call of alpha to the login server. */
  const createRoute = (method: "GET" | "POST", path: string, handle: Handler) => ({
    method,
    path,
    handler: createHandler(`${method} ${path}`, handle),
  });

  /**
   * Enforces the plan on sign-ins: brown-outs and the end apply, but not a freeze, because it would reveal to
   * unauthenticated clients which applications exist. A freeze rejects the first request with the token instead. An
   * unproven id is enough here, because a wrong id signs in no user. But it proves nothing, so a rejected call is not
   * counted as a retry of the application.
   *
   * @throws {HttpError} as {@link enforcePlan}
   */
  async function enforceOnSignIn(
    request: AlphaRequest,
    context: RequestContext,
    application: string | undefined,
  ): Promise<void> {
    if (!plan.isActive()) return;
    const identity = () => Object.assign(provenIdentity(request, context), { application });
    const verdict = await plan.judge(identity, context.route ?? "", undefined);
    if (!verdict?.decision) return;
    context.planned = verdict;
    enforcePlan(verdict, plan);
  }

  return {
    routes: [
      createRoute(SIGN_INS.authorize, definition.authorize.client, async (request, context) => {
        await enforceOnSignIn(request, context, namedApplication(request, context, definition)?.id);
        return redirectToLogin(request, context, dependencies);
      }),
      createRoute(SIGN_INS.token, definition.token.client, (request, context, activity) =>
        exchangeCode(request, context, activity, dependencies, (application) =>
          enforceOnSignIn(request, context, application),
        ),
      ),
      createRoute(SIGN_OUTS.revoke, definition.revoke.client, (request, context, activity) =>
        revokeToken(request, context, activity, dependencies),
      ),
      createRoute(SIGN_OUTS.logout, definition.logout.client, async (_request, context) =>
        logout(context, definition.logout.upstream, authOrigin),
      ),
    ],
    notFound: createHandler(undefined, () => Promise.reject(new HttpError(404, "Not found"))),
  };
}
