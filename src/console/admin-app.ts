import express from "express";
import type { IncomingMessage, RequestListener } from "node:http";
import { type RequestHandler, Router, type Response } from "express";
import helmet from "helmet";
import { type AuditStore, describeStates, EXPORT_FORMATS } from "../audit/index.ts";
import type { Metrics } from "../base/index.ts";
import { guardAccess, guardHost, guardOrigin } from "./access.ts";
import { createAuditApi, type RecordExport, type RecordViews } from "./audit-api.ts";
import { handleError, refuseParameters, sendNotFound, sendErrors } from "./responses.ts";
import { readPages } from "./console-pages.ts";
import { createUsageApi, type ClientOptions } from "./usage-api.ts";
import { type AdminFeature, createFeaturesApi, shownFeatures } from "./features-api.ts";
import { createSandboxApi, type SandboxControls } from "./sandbox-api.ts";

/** Removes the tokens with a fingerprint, or all tokens, from the token caches of all replicas. */
type PurgeTokens = (fingerprint?: string) => Promise<void>;

const FINGERPRINT = /^[0-9a-f]{16,64}$/;

/** Paths that accept no query parameters, including the paths below them. */
const WITHOUT_PARAMETERS = ["/api/mappings", "/api/tokens", "/api/sandbox", "/api/usage/erasures"];

/** `DELETE /api/tokens` and `DELETE /api/tokens/:fingerprint`: the next request with such a token checks it with v4. */
function createTokensApi(purge: PurgeTokens, onError: (error: unknown) => void = () => {}): Router {
  const router = Router({ caseSensitive: true });

  async function purgeTokens(response: Response, fingerprint?: string): Promise<void> {
    try {
      await purge(fingerprint);
    } catch (error) {
      onError(error);
      return sendErrors(
        response,
        503,
        "The tokens were removed on this replica, but other replicas could not be notified. Try again.",
      );
    }
    response.status(204).end();
  }

  router.delete("/", (_request, response) => purgeTokens(response));
  router.delete("/:fingerprint", (request, response) => {
    const { fingerprint } = request.params;
    if (FINGERPRINT.test(fingerprint)) return purgeTokens(response, fingerprint);
    return sendErrors(response, 400, "A fingerprint is 16 to 64 digits of 0-9a-f, as the audit shows it.");
  });
  return router;
}

/** `serving` ignores the stores, because the gateway serves requests while they are down. */
type ReadinessScope = "all" | "serving";

/** Returns the reasons why the gateway is not ready; empty if it is. Default: all. */
export type Readiness = (scope?: ReadinessScope) => readonly string[] | Promise<readonly string[]>;

/** `GET /healthz`, `GET /readyz` and `GET /readyz?stores=ignore`. They need no credentials, because probes have none. */
function createHealthRouter(readiness: Readiness): Router {
  const router = Router({ caseSensitive: true, strict: true });

  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });

  router.get("/readyz", async ({ query }, response) => {
    const unreadable = ["The state of the gateway could not be read."];
    const scope = query["stores"] === "ignore" ? "serving" : "all";
    const reasons = await Promise.try(readiness, scope).catch(() => unreadable);
    const ready = reasons.length === 0;
    response.status(ready ? 200 : 503).json({ status: ready ? "ready" : "not ready", reasons });
  });

  return router;
}

/** The services that the admin listener needs. */
export interface AdminDeps {
  /** `ADMIN_TOKEN`. If it is missing, all requests are allowed, which is only safe on loopback. */
  readonly token?: string;
  /** The address to which the listener is bound. On loopback, only loopback names are accepted (DNS rebinding). */
  readonly host?: string;
  /** `TRUST_PROXY`: proxies that are trusted to send the client's address and scheme. */
  readonly trustProxy?: readonly string[] | undefined;
  readonly readiness: Readiness;
  /** `undefined` if auditing is off. */
  readonly audit: AuditStore | undefined;
  readonly exports?: RecordExport;
  readonly metrics: Pick<Metrics, "text" | "contentType">;
  readonly purgeTokens: PurgeTokens;
  /** The names of clients, and the time after which they are quiet. */
  readonly clients: ClientOptions;
  /** The operator's features: their status and actions. */
  readonly features: readonly AdminFeature[];
  /** The names of both APIs in the active pack. */
  readonly names: () => Readonly<Record<"client" | "upstream", string>>;
  /** The active pack, for `GET /api/mappings`. */
  readonly mappings: () => unknown;
  /** The embedded sandbox; `undefined` with a real v4 service. */
  readonly sandbox?: SandboxControls | undefined;
  /** Explains and traces records by the active pack, for `GET /api/audit/:id/explain` and `/trace`. */
  readonly views: RecordViews;
  /** Handles `/api/report`; `undefined` if there are no reports. The console links to it if it is defined. */
  readonly report?: RequestHandler | undefined;
  /** Handles `/api/usage/impact`; undefined if nothing is counted. */
  readonly impact?: RequestHandler | undefined;
  /** Called with every error that becomes a 500 or 503. It is not sent to clients. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Allows only the console's own scripts, styles and connections. On plain HTTP, `upgrade-insecure-requests` would break
 * the page and HSTS has no effect, so neither is sent.
 */
const SECURITY = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
  },
  strictTransportSecurity: false,
  // With `no-referrer`, browsers send `Origin: null` with the console's own forms, which would be rejected.
  referrerPolicy: { policy: "same-origin" },
} as const;

/**
 * Replaces a target that Express can't parse (`http://[::1`): Express would respond in HTML, before all middleware. The
 * replacement is an unknown path, which gets the response of this listener.
 */
function replaceUnreadableTarget(request: IncomingMessage): void {
  const { url = "" } = request;
  if (!url.startsWith("/") && !URL.canParse(url)) request.url = "/unreadable";
}

/** Creates the Express application of the admin listener: health, metrics, audit, mappings and the console. */
export function createAdminApp(deps: AdminDeps): RequestListener {
  const pages = readPages(deps.token !== undefined);
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  // Behind a TLS proxy, the session cookie is only sent over TLS.
  if (deps.trustProxy) app.set("trust proxy", [...deps.trustProxy]);

  app.use(helmet(SECURITY));
  app.use((_request, response, next) => {
    response.set("Cache-Control", "no-store");
    next();
  });
  app.use(createHealthRouter(deps.readiness));
  app.use(guardHost(deps.host));
  app.use(guardOrigin);
  app.use(guardAccess(deps.token, pages, deps.trustProxy));
  app.use(pages.console, pages.open);
  app.get("/metrics", async (_request, response) => {
    response.set("Content-Type", deps.metrics.contentType).send(await deps.metrics.text());
  });
  app.use(WITHOUT_PARAMETERS, refuseParameters);
  app.use("/api/audit", createAuditApi(deps.audit, deps.clients.directory, deps.exports ?? {}, deps.views));
  app.get("/api", refuseParameters, (_request, response) => {
    response.json({
      audit: deps.audit !== undefined,
      report: deps.report !== undefined,
      ...shownFeatures(deps.features),
      names: deps.names(),
      exportFormats: EXPORT_FORMATS,
      states: describeStates(deps.names(), deps.clients.quietDays),
    });
  });
  if (deps.report) app.use("/api/report", deps.report);
  if (deps.impact) app.use("/api/usage/impact", deps.impact);
  app.use("/api/usage", createUsageApi(deps.audit, deps.clients));
  app.use("/api/tokens", createTokensApi(deps.purgeTokens, deps.onError));
  app.use("/api", createFeaturesApi(deps.features, deps.onError));
  app.get("/api/mappings", (_request, response) => {
    response.json(deps.mappings());
  });
  app.use("/api/sandbox", createSandboxApi(deps.sandbox));
  app.use(sendNotFound);
  app.use(handleError(deps.onError));
  return function adminApp(request, response) {
    replaceUnreadableTarget(request);
    app(request, response);
  };
}
