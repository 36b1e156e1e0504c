/** The options of the library: the settings in camel case, with typed values. */
import type { SettingName, SettingOptions } from "../../base/index.ts";
import type { HostServices } from "./host-services.ts";

interface ShortOptions {
  /** An alias of `upstreamUrl`. */
  readonly upstream?: URL | string | undefined;
  /** The folder of the mapping pack, as in `mappingsDir`, or a pack that {@link loadPack} has loaded. */
  readonly mappings?: MappingPack | string | undefined;
}

/**
 * Options of {@link createGateway}: every setting of `docs/reference/settings.md` in camel case. The defaults
 * are those of the settings. Environment variables are not read. Either `upstreamUrl` or `sandbox: true` is required.
 *
 * @example
 * ```ts
 * import type { GatewayOptions } from "alpha-gateway";
 *
 * const options: GatewayOptions = {
 *   upstreamUrl: "https://api.example.com",
 *   port: 8080,
 *   rateLimit: { points: 800, seconds: 60 },
 *   corsOrigins: ["https://app.example.com"],
 *   auditDurability: "strict",
 * };
 * ```
 */
export type GatewayOptions = SettingOptions & ShortOptions & HostServices;

/** Settings that are not options of `alphaGateway`, because the application has its own listeners. */
export const LISTENER_SETTINGS = [
  "HOST",
  "PORT",
  "REUSE_PORT",
  "ADMIN_HOST",
  "ADMIN_PORT",
  "ADMIN_TOKEN",
] as const satisfies readonly SettingName[];

/**
 * Options of {@link alphaGateway}: {@link GatewayOptions} without the options of listeners.
 *
 * @example
 * ```ts
 * import type { AlphaGatewayOptions } from "alpha-gateway";
 *
 * const options: AlphaGatewayOptions = { upstream: "https://api.example.com", mappings: "./my-pack", audit: "metadata" };
 * ```
 */
export type AlphaGatewayOptions = SettingOptions<(typeof LISTENER_SETTINGS)[number]> &
  ShortOptions &
  HostServices;

/**
 * A mapping pack, validated and compiled. Several gateways can share one.
 *
 * @example
 * ```ts
 * import { loadPack, type MappingPack } from "alpha-gateway";
 *
 * const pack: MappingPack = loadPack("./my-pack");
 * console.log(pack.routes.includes("GET /vm/instances"));
 * ```
 */
export interface MappingPack {
  /** The folder from which it was loaded. */
  readonly directory: string;
  /** The names of its routes, such as `GET /vm/instances/:id`. */
  readonly routes: readonly string[];
}
