import { SETTINGS, type SettingName, type Settings } from "../config/schema.ts";
import { readSettings, SettingsError } from "../config/settings.ts";
import type { LoadedPack } from "./load-pack.ts";
import type { AlphaGatewayOptions, GatewayOptions, MappingPack } from "./options.ts";

/** Settings that are not an option of `createGateway`: worker processes would run the embedding program again. */
const PROCESS_SETTINGS: readonly SettingName[] = ["WORKERS"];

/** Settings that are not an option of `alphaGateway`: an application has its own listeners. */
const LISTENER_SETTINGS: readonly SettingName[] = [
  ...PROCESS_SETTINGS,
  "HOST",
  "PORT",
  "ADMIN_HOST",
  "ADMIN_PORT",
  "ADMIN_TOKEN",
];

/** The only implementation of {@link MappingPack}. */
export class CompiledPack implements MappingPack {
  readonly directory: string;
  readonly routes: readonly string[];
  readonly loaded: LoadedPack;
  /** The product words that it was compiled with. */
  readonly words: Settings["WORDS"];

  constructor(loaded: LoadedPack, words: Settings["WORDS"]) {
    this.directory = loaded.files.directory;
    this.routes = loaded.pack.routes.map(({ name }) => name);
    this.loaded = loaded;
    this.words = words;
  }
}

/** The text that an environment variable would have for a value. `undefined` counts as not given. */
function toText(name: SettingName, value: unknown): string | undefined {
  if (typeof value === "boolean" && ["on", "off"].includes(SETTINGS[name].default ?? ""))
    return value ? "on" : "off";
  if (value instanceof URL) return value.href;
  if (value instanceof Date) return value.toJSON()?.slice(0, "YYYY-MM-DD".length) ?? String(value);
  if (Array.isArray(value)) return value.join(name === "BROWN_OUTS" ? "|" : ",");
  if (typeof value !== "object" || value === null)
    return value === undefined ? undefined : `${value as string | number | boolean}`;
  if ("points" in value && "seconds" in value) return `${String(value.points)}/${String(value.seconds)}`;
  return Object.entries(value)
    .map((pair) => pair.join("="))
    .join(",");
}

const optionName = (name: string): string =>
  name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const SETTING_OF_OPTION = new Map<string, SettingName>(
  (Object.keys(SETTINGS) as SettingName[]).map((name) => [optionName(name), name]),
);

/** Validates the option `words`. @throws {SettingsError} */
export const readWords = (words: GatewayOptions["words"]): Settings["WORDS"] =>
  readSettings([], { WORDS: toText("WORDS", words) }).WORDS;

/** Settings, and the pack if it is loaded already. */
export interface ReadOptions {
  readonly settings: Settings;
  readonly loaded: LoadedPack | undefined;
}

/** Resolves `upstream` and `mappings`. @returns The options by their long names, and the pack if it is loaded. */
function resolveShortOptions(options: object, problems: string[]) {
  const { upstream, mappings, ...named } = options as GatewayOptions & Readonly<Record<string, unknown>>;
  const given: Record<string, unknown> = { ...named };
  const set = (short: string, long: string, value: unknown): void => {
    if (value === undefined) return;
    if (given[long] !== undefined) problems.push(`${short}: it is the same as ${long}; give one of them`);
    given[long] = value;
  };
  set("upstream", "upstreamUrl", upstream);
  if (!(mappings instanceof CompiledPack)) {
    if (typeof mappings === "object") problems.push("mappings: must be a folder, or the result of loadPack");
    else set("mappings", "mappingsDir", mappings);
    return { given, pack: undefined };
  }
  for (const name of ["words", "mappingsDir"])
    if (given[name] !== undefined) problems.push(`${name}: the pack in mappings is loaded already`);
  return { given, pack: mappings };
}

/**
 * Validates options like settings: the same rules, and all problems in one error.
 *
 * @param excluded Settings that are not an option here.
 * @throws {SettingsError}
 */
function readOptions(options: object, excluded: readonly SettingName[]): ReadOptions {
  const problems: string[] = [];
  const { given, pack } = resolveShortOptions(options, problems);
  const texts: Partial<Record<SettingName, string | undefined>> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const setting = SETTING_OF_OPTION.get(name);
    if (!setting || excluded.includes(setting)) problems.push(`${name}: there is no such option`);
    else texts[setting] = toText(setting, value);
  }
  if (!texts.UPSTREAM_URL && texts.SANDBOX !== "true")
    problems.push(
      "UPSTREAM_URL: it must be set, or SANDBOX=true to use the embedded sandbox, whose tokens are published",
    );
  const hasAdminListener = !excluded.includes("ADMIN_PORT");
  try {
    const settings = readSettings([], hasAdminListener ? texts : { ...texts, ADMIN_PORT: "off" });
    if (problems.length === 0)
      return { settings: pack ? { ...settings, WORDS: pack.words } : settings, loaded: pack?.loaded };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    problems.push(...error.faults);
  }
  throw new SettingsError(problems);
}

/** Validates the options of `createGateway`. @throws {SettingsError} */
export const readGatewayOptions = (options: GatewayOptions): ReadOptions =>
  readOptions(options, PROCESS_SETTINGS);

/** Validates the options of `alphaGateway`. @throws {SettingsError} */
export const readMiddlewareOptions = (options: AlphaGatewayOptions): ReadOptions =>
  readOptions(options, LISTENER_SETTINGS);
