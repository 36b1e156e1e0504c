import express from "express";
import { type Express, type RequestHandler, Router, type Response } from "express";
import helmet from "helmet";
import type { AuditStore } from "../audit/store.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import { guardAccess, guardHost, guardOrigin } from "./access.ts";
import { createAuditApi, type ExplainRecord } from "./audit-api.ts";
import { handleError, sendNotFound, sendErrors } from "./responses.ts";
import { readPages } from "./console-pages.ts";
import { createUsageApi } from "./usage-api.ts";
import { createSandboxApi, type SandboxControls } from "./sandbox-api.ts";

/** Forgets what is known of the tokens with a fingerprint, or of all, at every replica. */
type PurgeTokens = (fingerprint?: string) => Promise<void>;

const FINGERPRINT = /^[0-9a-f]{16,64}$/;

/** `DELETE /api/tokens` and `DELETE /api/tokens/:fingerprint`: the next request with such a token asks v4 anew. */
function createTokensApi(purge: PurgeTokens, onError: (error: unknown) => void = () => {}): Router {
  const router = Router({ caseSensitive: true });

  async function answer(response: Response, fingerprint?: string): Promise<void> {
    try {
      await purge(fingerprint);
    } catch (error) {
      onError(error);
      return sendErrors(response, 503, "Forgotten here, but other replicas could not be told. Try again.");
    }
    response.status(204).end();
  }

  router.delete("/", (_request, response) => answer(response));
  router.delete("/:fingerprint", (request, response) => {
    const { fingerprint } = request.params;
    if (FINGERPRINT.test(fingerprint)) return answer(response, fingerprint);
    return sendErrors(response, 400, "A fingerprint is 16 to 64 digits of 0-9a-f, as the audit shows it.");
  });
  return router;
}

/** Why the gateway is not ready; empty when it is. */
type Readiness = () => readonly string[] | Promise<readonly string[]>;

/** `GET /healthz` and `GET /readyz`: open to everybody, as probes carry no credentials. */
function createHealthRouter(readiness: Readiness): Router {
  const router = Router({ caseSensitive: true, strict: true });

  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });

  router.get("/readyz", async (_request, response) => {
    const reasons = await readReasons(readiness);
    const ready = reasons.length === 0;
    response.status(ready ? 200 : 503).json({ status: ready ? "ready" : "not ready", reasons });
  });

  return router;
}

async function readReasons(readiness: Readiness): Promise<readonly string[]> {
  try {
    return await readiness();
  } catch {
    return ["The state of the gateway could not be read."];
  }
}

export interface AdminDeps {
  /** `ADMIN_TOKEN`. Without one everything is open, which is for loopback only. */
  readonly token?: string;
  /** The address that the listener is bound to. On loopback only loopback names are answered (DNS rebinding). */
  readonly host?: string;
  /** `TRUST_PROXY`: who is believed when it tells a client's address, and that the client came by https. */
  readonly trustProxy?: readonly string[] | undefined;
  readonly readiness: Readiness;
  /** `undefined` when auditing is off. */
  readonly audit: AuditStore | undefined;
  /** The header that carries a filter, for exports that show headers. */
  readonly filterHeader?: string;
  readonly metrics: Pick<Metrics, "text" | "contentType">;
  readonly purgeTokens: PurgeTokens;
  /** Scheduled brown-outs, and whether they are on, as `GET /api/brown-outs` shows them. */
  readonly brownOuts: () => unknown;
  /** The loaded pack, as `GET /api/mappings` shows it. */
  readonly mappings: () => unknown;
  /** The embedded sandbox; `undefined` before a real service. */
  readonly sandbox?: SandboxControls | undefined;
  /** What the loaded pack says of a record, as `GET /api/audit/:id/explain` shows it. */
  readonly explain: ExplainRecord;
  /** Answers `/api/report`; `undefined` where no report is made. The console links to it where it is there. */
  readonly report?: RequestHandler | undefined;
  /** Is told of every error that is answered with 500 or 503; clients see none of it. */
  readonly onError?: (error: unknown) => void;
}

/**
 * No scripts, styles or connections but the console's own. On plain HTTP `upgrade-insecure-requests` would
 * blank the page and HSTS means nothing, so that neither is sent.
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
  // With `no-referrer` browsers send `Origin: null` with the forms of the console itself, which are refused then.
  referrerPolicy: { policy: "same-origin" },
} as const;

/** Makes the admin listener (contract, "Admin listener"): health, metrics, audit, mappings and the console. */
export function createAdminApp(deps: AdminDeps): Express {
  const pages = readPages(deps.token !== undefined);
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  // Behind TLS the session's cookie is for TLS alone.
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
  app.use("/api/audit", createAuditApi(deps.audit, deps.filterHeader, deps.explain));
  app.get("/api", (_request, response) => {
    response.json({ audit: deps.audit !== undefined, report: deps.report !== undefined });
  });
  if (deps.report) app.use("/api/report", deps.report);
  app.use("/api/usage", createUsageApi(deps.audit));
  app.use("/api/tokens", createTokensApi(deps.purgeTokens, deps.onError));
  app.get("/api/brown-outs", (_request, response) => {
    response.json({ windows: deps.brownOuts() });
  });
  app.get("/api/mappings", (_request, response) => {
    response.json(deps.mappings());
  });
  app.use("/api/sandbox", createSandboxApi(deps.sandbox));
  app.use(sendNotFound);
  app.use(handleError(deps.onError));
  return app;
}
