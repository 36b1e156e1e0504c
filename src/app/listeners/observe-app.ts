/** The public port while the gateway observes: everything goes to the old service, and is recorded. */
import type { RequestListener } from "node:http";
import {
  createLegacyForward,
  createRequestContext,
  isSecretId,
  type LegacyService,
  plainRequestOf,
  Recorder,
  runMiddleware,
} from "../../gateway/index.ts";
import type { Metrics, Settings } from "../../base/index.ts";
import { createErrorHandler, type PublicAppDependencies } from "./public-app.ts";

/** The metrics without routes: they are guessed from what clients send, and a label is kept as long as the process runs. */
const withoutRoutes = (metrics: Metrics): Metrics => ({
  ...metrics,
  observeRequest: (request, rejectedBy) =>
    metrics.observeRequest({ ...request, alpha: { ...request.alpha, route: null } }, rejectedBy),
});

/** Creates the handler. Every request gets its response from the old service. */
export function createObserveApp(
  settings: Settings,
  dependencies: PublicAppDependencies,
  legacy: LegacyService,
): RequestListener {
  const recorder = new Recorder({ ...dependencies, settings, metrics: withoutRoutes(dependencies.metrics) });
  const forward = createLegacyForward(settings, legacy, dependencies, recorder);
  const describe = createRequestContext({
    trustProxy: settings.TRUST_PROXY ?? [],
    tokenParameter: undefined,
    methodHeader: undefined,
    clientHeader: settings.CLIENT_HEADER,
    isSecretId: (request) => isSecretId(request, recorder.options),
    onUntrustedProxy: dependencies.onUntrustedProxy,
  });
  return runMiddleware(
    [describe, (request, response) => forward(request, response, plainRequestOf(response))],
    createErrorHandler(dependencies),
  );
}
