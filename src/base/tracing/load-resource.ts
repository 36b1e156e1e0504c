/** Loads the resource of telemetry with its package, which is installed only where OpenTelemetry is used. */
export const loadResource = (): Promise<typeof import("./otlp-resource.ts")> => import("./otlp-resource.ts");
