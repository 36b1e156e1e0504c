/** The options of the library: the settings in camel case, with values in place of texts. */
import type { SettingOptions } from "../config/settings.ts";
import { readPack } from "../mapping/load/load-pack.ts";
import type { HostServices } from "./host-services.ts";
import { loadFiles } from "./loaded-pack.ts";
import { CompiledPack, readWords, type LISTENER_SETTINGS } from "./read-options.ts";

interface ShortOptions {
  /** The same as `upstreamUrl`. */
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

/**
 * Options of {@link alphaGateway}: those of {@link GatewayOptions} without the listeners, which are the application's.
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
  /** The folder that it was loaded from. */
  readonly directory: string;
  /** The names of its routes, such as `GET /vm/instances/:id`. */
  readonly routes: readonly string[];
}

/**
 * Loads a mapping pack: reads, validates and compiles the YAML files of a folder.
 *
 * @param directory The folder with `pack.yaml`.
 * @param options `words`: the service's word for each product word, such as `{ vm: "acme" }`.
 * @throws {PackError} If the pack is invalid, with every problem: file, line, column and message.
 * @throws {SettingsError} If `words` is invalid.
 * @example
 * ```ts
 * import { loadPack, PackError } from "alpha-gateway";
 *
 * try {
 *   console.log(`${loadPack("./my-pack").routes.length} routes`);
 * } catch (error) {
 *   if (!(error instanceof PackError)) throw error;
 *   for (const { file, line, message } of error.diagnostics) console.error(`${file}:${line} ${message}`);
 * }
 * ```
 */
export function loadPack(directory: string, { words }: Pick<GatewayOptions, "words"> = {}): MappingPack {
  const WORDS = readWords(words);
  return new CompiledPack(loadFiles(readPack(directory), { WORDS }), WORDS);
}
