/** The public port while the gateway observes: it passes every request to the old service, and records it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type RequestHandler } from "express";
import {
  createLegacyForward,
  createRequestContext,
  isSecretId,
  type LegacyService,
  plainRequestOf,
  Recorder,
} from "../../gateway/index.ts";
import type { Metrics, Settings } from "../../base/index.ts";
import { createErrorHandler } from "./error-handler.ts";
import type { PublicAppDependencies } from "./public-dependencies.ts";

/**
 * Returns the metrics without routes. Routes are guessed from paths of clients here, and Prometheus keeps a label as
 * long as the process runs.
 */
const withoutRoutes = (metrics: Metrics): Metrics => ({
  ...metrics,
  observeRequest: (request, rejectedBy) =>
    metrics.observeRequest({ ...request, alpha: { ...request.alpha, route: null } }, rejectedBy),
});

/** The middleware of the public port while the gateway observes. The old service responds to every request. */
export function createObserveRouter(
  settings: Settings,
  dependencies: PublicAppDependencies,
  legacy: LegacyService,
): RequestHandler {
  const recorder = new Recorder({ ...dependencies, settings, metrics: withoutRoutes(dependencies.metrics) });
  const forward = createLegacyForward(settings, legacy, dependencies, recorder);
  return express.Router().use(
    createRequestContext({
      trustProxy: settings.TRUST_PROXY ?? [],
      tokenParameter: undefined,
      methodHeader: undefined,
      clientHeader: settings.CLIENT_HEADER,
      isSecretId: (request) => isSecretId(request, recorder.options),
      onUntrustedProxy: dependencies.onUntrustedProxy,
    }),
    (request: IncomingMessage, response: ServerResponse) =>
      forward(request, response, plainRequestOf(response)),
    createErrorHandler(dependencies),
  );
}
