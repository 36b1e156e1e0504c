/**
 * The road of one request through the service: route, caller, limits, scopes, body, endpoint. Plain data
 * in, plain data out; nothing here knows a socket.
 */

import type { EndpointRequest, Endpoint } from "../resource/endpoints.ts";
import type { Store } from "../store/store.ts";
import { parseBody } from "./body.ts";
import type { Caller, FindCaller } from "./caller.ts";
import { authenticate, requireScopes } from "./caller.ts";
import { notFound, Problem } from "./problem.ts";
import type { Limiter, RateLimit } from "./rate.ts";
import { createLimiter } from "./rate.ts";
import type { Router } from "./router.ts";
import { createRouter } from "./router.ts";
import type { Upload } from "./upload.ts";

export interface SandboxRequest {
  readonly method: string;
  /** Path with query, as received. */
  readonly target: string;
  readonly authorization: string | undefined;
  readonly filter: string | undefined;
  readonly body: string;
  /** What came in place of JSON. */
  readonly upload?: Upload;
  readonly address: string;
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or a picture. */
  readonly body: string | Uint8Array;
}

export interface SandboxPipelineOptions {
  readonly store: Store;
  readonly endpoints: readonly Endpoint[];
  readonly findCaller: FindCaller;
  /** The general limit. */
  readonly rateLimit: RateLimit;
  /** Brings the world up to the time of a request. */
  runDueEvents(at: number): void;
}

/** The version of the specification that is served (v4: `X-Spec-Version`). */
export const specVersion = "4.123.0";

const anonymous: Caller = { account: "", user: "", scopes: [] };

/** Headers of every answer (v4, Response headers). */
const constantHeaders = {
  "Content-Type": "application/json",
  "Cache-Control": "private, max-age=60, s-maxage=60",
  Vary: "Authorization, X-Filter",
  "X-Spec-Version": specVersion,
};

export function createSandboxPipeline(
  options: SandboxPipelineOptions,
): (incoming: SandboxRequest) => SandboxResponse {
  const { store, endpoints, findCaller, rateLimit: rate, runDueEvents: settle } = options;
  const routes: Router<Endpoint> = createRouter(endpoints);
  const general = createLimiter(rate, store.clock);
  const own = new Map<Endpoint, Limiter>();
  for (const each of endpoints) if (each.rate) own.set(each, createLimiter(each.rate, store.clock));

  function travel(incoming: SandboxRequest, headers: Record<string, string>): unknown {
    const at = store.clock.now();
    settle(at);
    const { version, segments, query } = splitTarget(incoming.target);
    const route = routes.find(incoming.method, segments);
    if (!route || (route.endpoint.beta && version !== "v4beta")) throw notFound();
    const { endpoint, params } = route;
    const caller = identify(incoming, endpoint, headers);
    countRequest(endpoint, caller?.user ?? incoming.address, headers);
    if (caller) requireScopes(caller.scopes, endpoint.scopes);
    const takesBody = incoming.method === "POST" || incoming.method === "PUT";
    const body = takesBody && !endpoint.accepts ? parseBody(incoming.body) : {};
    const request: EndpointRequest = {
      store,
      caller: caller ?? anonymous,
      at,
      params,
      query,
      filter: incoming.filter,
      body,
      ...(incoming.upload && { upload: incoming.upload }),
    };
    return endpoint.run(request);
  }

  function identify(
    incoming: SandboxRequest,
    endpoint: Endpoint,
    headers: Record<string, string>,
  ): Caller | undefined {
    headers["X-Accepted-OAuth-Scopes"] = endpoint.scopes.join(" ");
    const caller = authenticate(incoming.authorization, findCaller, endpoint.access);
    if (!caller) return undefined;
    headers["X-OAuth-Scopes"] = caller.scopes.join(" ");
    headers["X-Customer-UUID"] = caller.account;
    return caller;
  }

  /** An endpoint with a limit of its own shows that one, which is the tighter. */
  function countRequest(endpoint: Endpoint, key: string, headers: Record<string, string>): void {
    for (const count of [general, own.get(endpoint)]) {
      if (!count) continue;
      const { allowed, limit, remaining, reset, wait } = count(key);
      headers["X-RateLimit-Limit"] = String(limit);
      headers["X-RateLimit-Remaining"] = String(remaining);
      headers["X-RateLimit-Reset"] = String(reset);
      if (!allowed)
        throw new Problem(429, [{ reason: "Too many requests" }], { "Retry-After": String(wait) });
    }
  }

  return function answer(incoming) {
    const headers: Record<string, string> = { ...constantHeaders };
    try {
      return successResponse(travel(incoming, headers), headers);
    } catch (error) {
      return errorResponse(error, headers);
    }
  };
}

/** 204 where there is nothing to say, which only the grants of an unrestricted user are (v4, Conventions). */
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

/** The version and the segments below it. Every path stands under `/v4` and `/v4beta` (document 1, Versioning). */
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
