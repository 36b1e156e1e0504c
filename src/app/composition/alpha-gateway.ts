import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Request, Response } from "express";
import { errorText, openLog, type Settings } from "../../base/index.ts";
import { type LoadedPack, loadFiles, type Pack, readPackFiles, splitPath } from "../../pack/index.ts";
import {
  badRequestBody,
  hasBody,
  ignoreBehindLastRequest,
  isInvalidMessage,
  rejectInvalid,
  replaceUnusualTarget,
} from "../../gateway/index.ts";
import { createControls, type GatewayControls, type OpenGateway } from "./controls.ts";
import { createDependencies, type Dependencies } from "./dependencies.ts";
import type { HostServices } from "./host-services.ts";
import type { AlphaGatewayOptions } from "./options.ts";
import { readMiddlewareOptions } from "./read-options.ts";
import { readInitialCatalogs } from "../listeners/readiness.ts";
import { createHandlers, type GatewayHandlers } from "./start.ts";

/** Milliseconds that a request waits for the stores to open. */
const OPEN_TIMEOUT_MS = 10_000;

const UNAVAILABLE = "The service is not available at the moment. Try again later.";

/**
 * The gateway as middleware of Express, Connect or `node:http`, created by {@link alphaGateway}.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { alphaGateway, type AlphaGateway } from "alpha-gateway";
 *
 * const gateway: AlphaGateway = alphaGateway({ upstream: "https://api.example.com" });
 * const server = createServer((request, response) =>
 *   gateway(request, response, () => response.writeHead(404).end()),
 * );
 * server.on("close", () => void gateway.close());
 * ```
 */
export interface AlphaGateway extends GatewayControls {
  /** Handles requests below the pack's prefix and those of its OAuth paths. Calls `next()` for all others. */
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  /** Returns why the gateway is not ready, such as `catalog datacenter: …`. Empty if it is ready. */
  ready(): Promise<readonly string[]>;
  /**
   * Closes the gateway: in-flight requests finish within `shutdownGraceMs`, the audit is committed and connections end.
   * Close the application's server first. Later requests get a 500.
   */
  close(): Promise<void>;
}

/** The application's options. */
interface Given {
  readonly loaded: LoadedPack;
  readonly host: HostServices;
}

/** The handler of requests, after the stores were opened. */
interface Opened extends OpenGateway {
  readonly dependencies: Dependencies;
  readonly handlers: GatewayHandlers;
}

async function open(settings: Settings, { loaded, host }: Given): Promise<Opened> {
  const dependencies = await createDependencies(settings, { loaded, host, environment: {} });
  const handlers = createHandlers(settings, dependencies);
  await readInitialCatalogs(handlers.activePack);
  return { dependencies, handlers, audit: dependencies.audit };
}

/** Creates the predicate for the paths that the gateway handles: below a prefix of the pack, and calls to OAuth. */
function createPathFilter(settings: Settings, { dialect, nativeScheme }: Pack): (path: string) => boolean {
  const { client, upstream, oauth } = dialect;
  const prefixes = [
    client.base_path,
    ...(settings.NATIVE_PROXY && nativeScheme !== undefined ? [upstream.base_path] : []),
  ].map((prefix) => splitPath(prefix) ?? []);
  const hasLoginServer = settings.UPSTREAM_URL === undefined || settings.AUTH_URL !== undefined;
  const oauthPaths = new Set<string>(
    hasLoginServer && oauth
      ? [oauth.authorize, oauth.token, oauth.revoke, oauth.logout].map((call) => call.client)
      : [],
  );
  return (path) => {
    const segments = splitPath(path) ?? [];
    const isBelow = (prefix: readonly string[]): boolean =>
      prefix.every((segment, index) => segments[index] === segment);
    return oauthPaths.has(path) || prefixes.some(isBelow);
  };
}

/**
 * Whether middleware in front of the gateway reads bodies. Body parsers set `body` on every request, even if there is
 * no body. A parsed body differs from the original: numbers are rounded, and duplicate members are dropped.
 */
const isAfterBodyParser = (request: IncomingMessage): boolean =>
  "body" in request || (request.readableDidRead && hasBody(request));

/**
 * Creates Express middleware that serves alpha inside an application. Mount it before body parsers, at the root or below
 * a path. The pack is loaded at once; the stores open in the background, and requests wait for them for 10 seconds at
 * most. If a store can't be opened, the error is logged once, and requests get 500.
 *
 * @param options The settings in camel case, without listeners. See {@link AlphaGatewayOptions}.
 * @throws {SettingsError} If options are invalid, with all problems.
 * @throws {PackError} If the pack is invalid.
 * @example
 * ```ts
 * import express from "express";
 * import { alphaGateway } from "alpha-gateway";
 *
 * const app = express();
 * app.use(alphaGateway({ upstream: "https://api.example.com", mappings: "./mappings" }));
 * app.get("/", (_request, response) => void response.send("My application"));
 * app.listen(3000);
 * ```
 */
export function alphaGateway(options: AlphaGatewayOptions): AlphaGateway {
  const {
    settings,
    host,
    loaded = loadFiles(readPackFiles(settings), settings),
  } = readMiddlewareOptions(options);
  return createMiddleware(settings, { loaded, host });
}

/** Sends the response for a gateway that could not be opened. */
function fail(response: ServerResponse, { errors }: Pack): void {
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify(errors.client.write([{ reason: UNAVAILABLE }], 500));
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  response.writeHead(500, headers).end(body);
}

function createMiddleware(settings: Settings, given: Given): AlphaGateway {
  const { loaded, host } = given;
  const log = openLog(settings, host.logger);
  const untrusted = new WeakSet<Socket>();
  let problem = "starting";
  let opened: Opened | undefined;
  const activePack = (): Pack => opened?.handlers.admin.pack() ?? loaded.pack;
  let paths = { pack: loaded.pack, include: createPathFilter(settings, loaded.pack) };
  let closing: Promise<void> | undefined;

  const opening = open(settings, given).then(
    (result) => (opened = result),
    (error: unknown) => {
      problem = errorText(error);
      log.error({ code: "AG_GATEWAY_OPEN_FAILED", err: error }, "the gateway could not be opened");
      return undefined;
    },
  );

  const serve = ({ handlers }: Opened, ...[request, response, next]: Parameters<AlphaGateway>): void => {
    replaceUnusualTarget(request);
    void handlers.router(request as Request, response as Response, next);
  };

  async function waitAndServe(...[request, response, next]: Parameters<AlphaGateway>): Promise<void> {
    const result = await Promise.race([opening, wait(OPEN_TIMEOUT_MS, undefined, { ref: false })]);
    if (closing || !result) return fail(response, loaded.pack);
    serve(result, request, response, next);
  }

  async function close(): Promise<void> {
    const result = await opening;
    await result?.handlers.stop(() => result.dependencies.inFlight.idle(settings.SHUTDOWN_GRACE_MS));
  }

  function handle(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void {
    const [path = ""] = (request.url ?? "").split("?", 1);
    // Bytes after an invalid message may belong to it, regardless of their path. The 400 ends the connection.
    if (untrusted.has(request.socket)) return;
    const pack = activePack();
    // A reload may change the paths that the gateway handles.
    if (paths.pack !== pack) paths = { pack, include: createPathFilter(settings, pack) };
    if (!paths.include(path)) return next();
    if (!response.shouldKeepAlive) ignoreBehindLastRequest(request.socket);
    if (isInvalidMessage(request)) {
      untrusted.add(request.socket);
      response.shouldKeepAlive = false;
      const badRequest = () => badRequestBody(pack, "malformed");
      return rejectInvalid(request, response, opened?.handlers.rejection ?? { badRequest });
    }
    if (isAfterBodyParser(request)) {
      log.error(
        { code: "AG_BODY_ALREADY_READ" },
        "a body parser, such as express.json(), is mounted before the gateway: mount the gateway before it",
      );
      return fail(response, loaded.pack);
    }
    if (opened && !closing) serve(opened, request, response, next);
    else void waitAndServe(request, response, next);
  }

  async function whenOpen(): Promise<Opened> {
    const result = await opening;
    if (closing) throw new Error("The gateway is closed.");
    if (!result) throw new Error(`The gateway could not be opened: ${problem}`);
    return result;
  }

  return Object.assign(handle, createControls(settings, whenOpen), {
    async ready(): Promise<readonly string[]> {
      if (closing) return ["closed"];
      return opened ? opened.handlers.admin.readiness() : [problem];
    },
    close: () => (closing ??= close()),
  });
}
