import type { Settings } from "./setting-definitions.ts";

type ObservingSettings = Pick<Settings, "LEGACY_URL" | "UPSTREAM_URL" | "MAPPINGS_DIR" | "SANDBOX">;

/**
 * Whether the settings name an old service and no pack. The gateway then passes everything to the old service, records
 * it, and needs no v4.
 */
export const isObserving = ({
  LEGACY_URL,
  UPSTREAM_URL,
  MAPPINGS_DIR,
  SANDBOX,
}: ObservingSettings): boolean =>
  LEGACY_URL !== undefined && UPSTREAM_URL === undefined && MAPPINGS_DIR === undefined && !SANDBOX;

/** Returns the address of the service that receives every request; undefined if the gateway does not observe. */
export const observedUrlOf = (settings: ObservingSettings): string | undefined =>
  isObserving(settings) ? settings.LEGACY_URL?.href.replace(/\/$/, "") : undefined;
