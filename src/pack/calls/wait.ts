/** The key `wait` of a route: a request that is repeated before the call. */
import type { SourceLocation } from "../../base/index.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import { compileHeadCondition, type HeadCondition } from "../headers/client-head.ts";
import { compileEndpoint, type Endpoint } from "./endpoint.ts";

/** A request that is repeated until its response meets a condition, before the call is sent. */
export interface Wait {
  readonly endpoint: Endpoint;
  readonly until: HeadCondition;
  /** The source of `until`. */
  readonly condition: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Requests that one call waits for. */
const MOST_WAIT_REQUESTS = 100;

/** Compiles the key `wait` of a route. */
export function compileWait(
  definition: RouteDefinition["wait"],
  names: readonly string[],
  prefix: string,
  tokenHeaders: readonly string[],
  location: SourceLocation,
): Wait | undefined {
  if (!definition) return undefined;
  if (definition.timeout_ms > MOST_WAIT_REQUESTS * definition.interval_ms)
    location
      .at("interval_ms")
      .report(
        `a call waits for at most ${MOST_WAIT_REQUESTS} requests: interval_ms is too short for timeout_ms`,
      );
  const endpoint = compileEndpoint(definition.upstream, prefix, names, location.at("upstream"));
  if (endpoint.method !== "GET") location.at("upstream").report("a call waits by a GET");
  return {
    endpoint,
    until: compileHeadCondition(definition.until, tokenHeaders, location.at("until")) ?? (() => true),
    condition: definition.until,
    intervalMs: definition.interval_ms,
    timeoutMs: definition.timeout_ms,
  };
}
