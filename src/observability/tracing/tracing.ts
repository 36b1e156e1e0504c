/** Spans of requests, in terms of OpenTelemetry. Its SDK is only loaded if tracing is enabled. */
import { setTimeout as wait } from "node:timers/promises";
import type { Tracer } from "@opentelemetry/api";
import { reasonOfError } from "../host-call.ts";

/** The span of a request to v4 or to its login server. */
export interface CallSpan {
  /** The `traceparent` header to send; undefined if the tracer gives the span no valid ids. */
  readonly traceparent: string | undefined;
  /** Ends the span. @param status Status of the response; null without one. */
  end(status: number | null): void;
}

/** The result of a client's request. */
export interface RequestResult {
  /** The route's name in the pack; null without a route. Never a path that the client sent. */
  readonly route: string | null;
  readonly status: number;
  readonly lane: string;
  readonly requestId: string;
}

/** Starts the span of an upstream request; returns undefined if the tracer fails. The query of `path` is left out. */
export type StartCallSpan = (method: string, path: string) => CallSpan | undefined;

/** The span of a client's request. */
export interface RequestSpan {
  readonly call: StartCallSpan;
  /** Ends the span. */
  end(result: RequestResult): void;
}

export interface RequestStart {
  readonly method: string;
  /** The client's header, if it sent one. */
  readonly traceparent: string | undefined;
  /** Default: now. */
  readonly time?: Date;
}

/** No method throws, whatever the tracer does. */
export interface Tracing {
  /** Returns undefined if the tracer fails. */
  startRequest(request: RequestStart): RequestSpan | undefined;
  /** Starts the span of an upstream request that belongs to no client's request: a trace of its own. */
  readonly startCall: StartCallSpan;
  /** Sends the spans that were not sent yet. */
  close(): Promise<void>;
}

/** A tracer of `@opentelemetry/api`. Described here, because programs without tracing have no such package. */
export interface HostTracer {
  startSpan(...args: never[]): unknown;
}

/**
 * Traces requests with the tracer of the embedding program, which sends the spans itself.
 *
 * @param onError Called with the first error of the tracer or of its spans.
 */
export async function openHostTracing(
  tracer: HostTracer,
  onError: (message: string) => void,
): Promise<Tracing> {
  const { createTracing } = await import("./spans.ts");
  let hasFailed = false;
  return createTracing(
    tracer as Tracer,
    async () => {},
    (error) => {
      if (!hasFailed) onError(reasonOfError(error));
      hasFailed = true;
    },
  );
}

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the shutdown waits for the collector, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

/** Reads OpenTelemetry's own variables: an endpoint, or the name of the exporter. `otlp` (over HTTP) is supported. */
function isEnabled(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER: exporter } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === "true") return false;
  if (exporter) return exporter.split(",").includes("otlp");
  return Boolean(
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
  );
}

/**
 * Starts tracing if the environment enables it. Otherwise no SDK is loaded, and requests have no extra cost.
 *
 * @param onError Called if spans could not be sent.
 */
export async function openTracing(
  environment: Environment,
  onError: (message: string) => void,
): Promise<Tracing | undefined> {
  if (!isEnabled(environment)) return undefined;
  const { startSdk } = await import("./sdk.ts");
  const tracing = startSdk(environment, onError);
  return {
    ...tracing,
    close: () => Promise.race([tracing.close(), wait(CLOSE_TIMEOUT_MS, undefined, { ref: false })]),
  };
}
