/** Services of an embedding program that replace the gateway's own. */
import { type GatewayLogger, type HostRegistry, isObject } from "../../base/index.ts";
import type { HostTracer } from "../tracing/open-tracing.ts";

/**
 * The logger, the metrics registry and the tracer of a program that embeds the gateway.
 *
 * @example
 * ```ts
 * import { alphaGateway } from "alpha-gateway";
 *
 * const line = (level: string) => (context: object, message: string) => console.error(level, message, context);
 * const logger = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error"), fatal: line("fatal") };
 * const gateway = alphaGateway({ upstream: "https://api.example.com", logger });
 * console.log(await gateway.ready());
 * ```
 */
export interface HostServices {
  /**
   * Receives the log: a logger of pino, or an object with its methods. `logLevel` and `logFormat` then have no
   * effect.
   */
  readonly logger?: GatewayLogger | undefined;
  /**
   * Receives the gateway's metrics until it is closed: a registry of `prom-client` or `@prometheus-io/client`. Each
   * gateway needs its own registry.
   */
  readonly metrics?: HostRegistry | undefined;
  /** Starts the spans of requests and of calls to the upstream: a tracer of OpenTelemetry's API. */
  readonly tracer?: HostTracer | undefined;
}

/** The required methods of each service. */
const METHODS = {
  logger: ["debug", "info", "warn", "error", "fatal"],
  metrics: ["registerMetric", "getSingleMetric", "removeSingleMetric"],
  tracer: ["startSpan"],
} as const satisfies Record<keyof HostServices, readonly string[]>;

/** Returns the problems of these services: missing methods. */
export const hostProblems = (services: HostServices): string[] =>
  Object.entries(METHODS).flatMap(([name, methods]) => {
    const service: unknown = services[name as keyof HostServices];
    if (service === undefined) return [];
    const missing = methods.filter((method) => !isObject(service) || typeof service[method] !== "function");
    return missing.length > 0 ? [`${name}: it has no ${missing.join(", ")}`] : [];
  });
