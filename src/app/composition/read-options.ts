import {
  optionName,
  readOptions,
  readSettings,
  type SettingName,
  type Settings,
  type SettingValues,
} from "../../base/index.ts";
import { type LoadedPack, loadFiles, readPack } from "../../pack/index.ts";
import { hostProblems, type HostServices } from "./host-services.ts";
import {
  type AlphaGatewayOptions,
  type GatewayOptions,
  type MappingPack,
  LISTENER_SETTINGS,
} from "./options.ts";

/** The only implementation of {@link MappingPack}. */
class CompiledPack implements MappingPack {
  readonly directory: string;
  readonly routes: readonly string[];
  readonly loaded: LoadedPack;
  /** The product words for which it was compiled. */
  readonly words: Settings["WORDS"];

  constructor(loaded: LoadedPack, words: Settings["WORDS"]) {
    this.directory = loaded.files.directory;
    this.routes = loaded.pack.routes.map(({ name }) => name);
    this.loaded = loaded;
    this.words = words;
  }
}

/** Validates the option `words`. @throws {SettingsError} */
const readWords = (words: GatewayOptions["words"]): Settings["WORDS"] =>
  readSettings({ WORDS: words }, { label: optionName }).WORDS;

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

/** The settings, the services of the embedding program, and the pack if it was already loaded. */
interface ReadOptions {
  readonly settings: Settings;
  readonly host: HostServices;
  readonly loaded: LoadedPack | undefined;
}

/** Separates the options that are not settings. @returns the settings by their option names, and the other options */
function resolveShortOptions(options: object, problems: string[]) {
  const { upstream, mappings, logger, metrics, tracer, ...named } = options as GatewayOptions &
    Readonly<Record<string, unknown>>;
  const given: Record<string, unknown> = { ...named };
  const host: HostServices = { logger, metrics, tracer };
  problems.push(...hostProblems(host));
  const set = (short: string, long: string, value: unknown): void => {
    if (value === undefined) return;
    if (given[long] !== undefined) problems.push(`${short}: it is the same as ${long}; give one of them`);
    given[long] = value;
  };
  set("upstream", "upstreamUrl", upstream);
  if (!(mappings instanceof CompiledPack)) {
    if (typeof mappings === "object") problems.push("mappings: must be a folder, or the result of loadPack");
    else set("mappings", "mappingsDir", mappings);
    return { given, host, pack: undefined };
  }
  for (const name of ["words", "mappingsDir"])
    if (given[name] !== undefined) problems.push(`${name}: the pack in mappings is loaded already`);
  return { given, host, pack: mappings };
}

/**
 * Validates options like settings: the same rules, and all problems in one error.
 *
 * @param excluded Settings that are not an option here.
 * @throws {SettingsError}
 */
function readAllOptions(
  options: object,
  excluded: readonly SettingName[],
  fixed: SettingValues,
): ReadOptions {
  const problems: string[] = [];
  const { given, host, pack } = resolveShortOptions(options, problems);
  const settings = readOptions(given, { excluded, fixed, problems });
  if (!pack) return { settings, host, loaded: undefined };
  const { words: WORDS, directory: MAPPINGS_DIR, loaded } = pack;
  return { settings: { ...settings, WORDS, MAPPINGS_DIR }, host, loaded };
}

/** Validates the options of `createGateway`. @throws {SettingsError} */
export const readGatewayOptions = (options: GatewayOptions): ReadOptions => readAllOptions(options, [], {});

/**
 * The settings of a gateway without listeners. The application decides which host names are valid, as for an address
 * that other machines can reach.
 */
const NO_LISTENERS: SettingValues = { HOST: "0.0.0.0", ADMIN_PORT: "off" };

/** Validates the options of `alphaGateway`. @throws {SettingsError} */
export const readMiddlewareOptions = (options: AlphaGatewayOptions): ReadOptions =>
  readAllOptions(options, LISTENER_SETTINGS, NO_LISTENERS);
