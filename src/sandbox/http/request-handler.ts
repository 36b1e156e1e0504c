/**
 * Handles one request: match route, authenticate, enforce rate limit, authorize, parse body, run endpoint.
 * Plain data in and out, without sockets.
 */

import type { Clock } from "../clock.ts";
import { isObject, type Body } from "../fields/field.ts";
import type { Endpoint, EndpointRequest, Store } from "../resource/resource-declaration.ts";
import { type FindCaller, authenticate, requireScopes } from "./authentication.ts";
import { type Router, createRouter } from "./endpoint-router.ts";
import { Problem, invalid, notFound } from "./problem.ts";
import type { Caller, RateLimit, SandboxRequest, SandboxResponse } from "./request-types.ts";

interface SandboxPipelineOptions {
  readonly store: Store;
  readonly endpoints: readonly Endpoint[];
  readonly findCaller: FindCaller;
  /** The general rate limit, which applies to all endpoints. */
  readonly rateLimit: RateLimit;
  /** Applies all changes that are due when a request arrives. */
  runDueEvents(at: number): void;
}

/** The implemented version of v4's API description (`X-Spec-Version`). */
const specVersion = "4.123.0";

const anonymous: Caller = { account: "", user: "", scopes: [] };

/** Headers of every response. */
const constantHeaders = {
  "Content-Type": "application/json",
  "Cache-Control": "private, max-age=60, s-maxage=60",
  Vary: "Authorization, X-Filter",
  "X-Spec-Version": specVersion,
};

export function createSandboxPipeline(
  options: SandboxPipelineOptions,
): (request: SandboxRequest) => SandboxResponse {
  const { store, endpoints, findCaller, rateLimit: rate, runDueEvents } = options;
  const routes: Router<Endpoint> = createRouter(endpoints);
  const general = createLimiter(rate, store.clock);
  const ownLimiters = new Map<Endpoint, Limiter>();
  for (const each of endpoints) if (each.rate) ownLimiters.set(each, createLimiter(each.rate, store.clock));

  function runEndpoint(request: SandboxRequest, headers: Record<string, string>): unknown {
    const at = store.clock.now();
    runDueEvents(at);
    const { version, segments, query } = splitTarget(request.target);
    const route = routes.find(request.method, segments);
    if (!route || (route.endpoint.beta && version !== "v4beta")) throw notFound();
    const { endpoint, params } = route;
    const caller = authenticateRequest(request, endpoint, headers);
    enforceRateLimits(endpoint, caller?.user ?? request.address, headers);
    if (caller) requireScopes(caller.scopes, endpoint.scopes);
    const takesBody = request.method === "POST" || request.method === "PUT";
    const body = takesBody && !endpoint.accepts ? parseBody(request.body) : {};
    const endpointRequest: EndpointRequest = {
      store,
      caller: caller ?? anonymous,
      at,
      params,
      query,
      filter: request.filter,
      body,
      ...(request.upload && { upload: request.upload }),
    };
    return endpoint.run(endpointRequest);
  }

  function authenticateRequest(
    request: SandboxRequest,
    endpoint: Endpoint,
    headers: Record<string, string>,
  ): Caller | undefined {
    headers["X-Accepted-OAuth-Scopes"] = endpoint.scopes.join(" ");
    const caller = authenticate(request.authorization, findCaller, endpoint.access);
    if (!caller) return undefined;
    headers["X-OAuth-Scopes"] = caller.scopes.join(" ");
    headers["X-Customer-UUID"] = caller.account;
    return caller;
  }

  /** Enforces the general limit and the endpoint's own. The rate limit headers contain the endpoint's limit, which is lower. */
  function enforceRateLimits(endpoint: Endpoint, key: string, headers: Record<string, string>): void {
    for (const count of [general, ownLimiters.get(endpoint)]) {
      if (!count) continue;
      const { allowed, limit, remaining, reset, wait } = count(key);
      headers["X-RateLimit-Limit"] = String(limit);
      headers["X-RateLimit-Remaining"] = String(remaining);
      headers["X-RateLimit-Reset"] = String(reset);
      if (!allowed)
        throw new Problem(429, [{ reason: "Too many requests" }], { "Retry-After": String(wait) });
    }
  }

  return function handleRequest(request) {
    const headers: Record<string, string> = { ...constantHeaders };
    try {
      return successResponse(runEndpoint(request, headers), headers);
    } catch (error) {
      return errorResponse(error, headers);
    }
  };
}

/** Creates the response of a call. Null becomes a 204, which only the grants of an unrestricted user are. */
function successResponse(result: unknown, headers: Readonly<Record<string, string>>): SandboxResponse {
  if (result === null) return { status: 204, headers, body: "" };
  if (result instanceof Uint8Array)
    return { status: 200, headers: { ...headers, "Content-Type": "image/png" }, body: result };
  return { status: 200, headers, body: JSON.stringify(result) };
}

function errorResponse(error: unknown, headers: Record<string, string>): SandboxResponse {
  const problem =
    error instanceof Problem ? error : new Problem(500, [{ reason: "An unexpected error occurred" }]);
  return {
    status: problem.status,
    headers: { ...headers, ...problem.headers },
    body: JSON.stringify({ errors: problem.errors }),
  };
}

/** Splits a path into version and segments. Every path is below `/v4` and `/v4beta` (V-196). */
function splitTarget(target: string): {
  version: string;
  segments: readonly string[];
  query: URLSearchParams;
} {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const [, version, ...segments] = path.split("/");
  if (version !== "v4" && version !== "v4beta") throw notFound();
  return { version, segments, query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)) };
}

// Rate limits: a fixed window per caller that starts with its first request (v4: 429, `Retry-After` in seconds).

interface RateStatus {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** End of the window, in seconds since 1970. */
  readonly reset: number;
  /** Seconds until the end of the window, at least 1. */
  readonly wait: number;
}

/** Counts one request of `key` and returns the rate limit status. */
type Limiter = (key: string) => RateStatus;

/** Maximum number of windows. If there are more, the oldest are deleted. */
const maxKeys = 10_000;

function createLimiter(rate: RateLimit, clock: Clock): Limiter {
  const windows = new Map<string, { ends: number; used: number }>();
  return function count(key) {
    const now = clock.now();
    let window = windows.get(key);
    if (!window || window.ends <= now) {
      windows.delete(key);
      window = { ends: now + rate.seconds * 1000, used: 0 };
      windows.set(key, window);
      const oldest = windows.size > maxKeys ? windows.keys().next().value : undefined;
      if (oldest !== undefined) windows.delete(oldest);
    }
    window.used += 1;
    return {
      allowed: window.used <= rate.limit,
      limit: rate.limit,
      remaining: Math.max(0, rate.limit - window.used),
      reset: Math.ceil(window.ends / 1000),
      wait: Math.max(1, Math.ceil((window.ends - now) / 1000)),
    };
  };
}

// Request bodies: JSON objects. An empty body is read as an empty object.

/** Parses a body. @throws {Problem} 400 if the text is not a JSON object. */
function parseBody(text: string): Body {
  if (text.trim() === "") return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalid("The body is not well-formed JSON");
  }
  if (isObject(body)) return body;
  throw invalid("The body must be a JSON object");
}
