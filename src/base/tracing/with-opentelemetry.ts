import { SettingsError } from "../settings/settings.ts";

/** Optional peer dependencies: see `package.json`. */
const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/exporter-logs-otlp-http",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace",
];

/**
 * Starts code that imports OpenTelemetry's packages, which are optional.
 *
 * @param setting The setting that requires them.
 * @throws {SettingsError} If a package is not installed. The message names the package.
 */
export async function withOpenTelemetry<Result>(
  setting: string,
  start: () => Promise<Result>,
): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("@opentelemetry/")) throw error;
    throw new SettingsError([
      `${setting}: it needs packages that are not installed: npm install ${PACKAGES.join(" ")}`,
    ]);
  }
}

/** Loads the resource of telemetry. Its package is only installed if OpenTelemetry is used. */
export const loadResource = (): Promise<typeof import("./otlp-resource.ts")> => import("./otlp-resource.ts");
