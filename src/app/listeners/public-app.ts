/** The public port: one list of Express middleware, in order. */
import type { RequestListener } from "node:http";
import express, { type RequestHandler } from "express";
import helmet, { type HelmetOptions } from "helmet";
import {
  allowOrigins,
  type AlphaHandler,
  createGuards,
  createKnownSenders,
  createPreflightLimit,
  createRequestContext,
  createResponder,
  isSecretId,
  type KnownSenders,
  type Middleware,
  Recorder,
  replaceUnusualTarget,
} from "../../gateway/index.ts";
import { mayShareAddresses, type Settings } from "../../base/index.ts";
import { createTesterGuard, Shadow } from "../../compare/index.ts";
import { createMigrationPages, createRolloutMiddleware } from "../../migration/index.ts";
import { createAlphaHandler, createOAuthMiddleware, lifecycleOf, trackRequests } from "./alpha-handlers.ts";
import { createErrorHandler } from "./error-handler.ts";
import { createNativeMiddleware } from "./native-middleware.ts";
import type { PublicAppDependencies } from "./public-dependencies.ts";

/** The other headers of helmet are for pages of browsers. Responses of an API have none of them. */
const SECURITY: HelmetOptions = {
  contentSecurityPolicy: false,
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
};

/** The middleware of the public port. Applications can mount it below a path. */
export function createPublicRouter(settings: Settings, dependencies: PublicAppDependencies): RequestHandler {
  const { bodies, pack } = dependencies;
  const senders = createSenders(settings, dependencies);
  const recorder = new Recorder({ ...dependencies, settings, senders });
  const respond = createResponder(bodies);
  const toMiddleware = (handler: AlphaHandler): Middleware => respond(trackRequests(dependencies, handler));
  const guardOptions = { lifecycle: lifecycleOf(dependencies, recorder), toMiddleware };
  const guards = createGuards(settings, dependencies, guardOptions);
  const shadow = dependencies.shadow && new Shadow(settings, dependencies, dependencies.shadow);
  return express.Router().use(
    createRequestContext({
      trustProxy: settings.TRUST_PROXY ?? [],
      tokenParameter: pack.credentials.client?.queryParameter,
      methodHeader: pack.methodHeader,
      clientHeader: settings.CLIENT_HEADER,
      isSecretId: (request) => isSecretId(request, recorder.options),
      onUntrustedProxy: dependencies.onUntrustedProxy,
    }),
    helmet(SECURITY),
    guards.host,
    allowOrigins(settings, pack, createPreflightLimit(dependencies)),
    createTesterGuard(settings, dependencies, guardOptions),
    createNativeMiddleware(settings, dependencies, recorder, shadow),
    guards.head,
    guards.crossSite,
    guards.pack,
    createMigrationPages(settings, dependencies, guardOptions),
    createRolloutMiddleware(settings, dependencies, recorder, { senders, shadow }),
    createOAuthMiddleware(settings, dependencies, recorder, toMiddleware),
    toMiddleware(createAlphaHandler(settings, dependencies, recorder, shadow)),
    createErrorHandler(dependencies),
  );
}

/** Creates the application of the public port. @param list the result of {@link createPublicRouter} for the active pack */
export function createPublicApp(list: RequestHandler): RequestListener {
  const app = express();
  app.disable("x-powered-by");
  app.use(list);
  return (request, response) => {
    replaceUnusualTarget(request);
    app(request, response);
  };
}

/**
 * Creates the registry that distinguishes accepted clients from unknown senders, for a roll-out. Undefined if there is
 * none.
 */
const createSenders = (
  settings: Settings,
  {
    pack,
    clients,
    shared,
    upstreamTokens,
    legacy,
    rollout,
  }: Pick<PublicAppDependencies, "pack" | "clients" | "shared" | "upstreamTokens" | "legacy" | "rollout">,
): KnownSenders | undefined =>
  legacy &&
  rollout &&
  createKnownSenders({
    pack,
    directory: clients.current,
    tokens: shared.tokens,
    upstreamTokens,
    ofOldService: legacy.acceptedTokens,
    areAddressesShared: mayShareAddresses(settings),
  });
