import { parseArgs } from "node:util";
import { SETTINGS, type Setting, type SettingName, type Settings } from "./schema.ts";
import { isLoopback } from "./setting-types.ts";

/** Settings that can't be used: all faults together, one a line. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "AG_SETTINGS_INVALID";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(["These settings can't be used:", ...faults.map((fault) => `  ${fault}`)].join("\n"));
    this.faults = faults;
  }
}

const names = Object.keys(SETTINGS) as SettingName[];

/** `UPSTREAM_URL` → `upstream-url` */
export const settingFlag = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/** What the settings promise together. */
function crossFaults(settings: Settings, production: boolean): string[] {
  const faults: string[] = [];
  for (const name of ["UPSTREAM_URL", "AUTH_URL"] as const) {
    const url = settings[name];
    if (url?.protocol !== "http:" || settings.ALLOW_HTTP_UPSTREAM || isLoopback(url.hostname)) continue;
    faults.push(
      `${name}: ${url.origin} is plain http to another machine; use https, or set ALLOW_HTTP_UPSTREAM=true`,
    );
  }
  if (production && settings.UPSTREAM_URL === undefined && !settings.SANDBOX)
    faults.push(
      "UPSTREAM_URL: it must be set where NODE_ENV is production, or SANDBOX=true to serve the sandbox, whose tokens are published",
    );
  if (settings.SEED !== undefined && settings.UPSTREAM_URL !== undefined)
    faults.push("SEED: only the embedded sandbox can be seeded; unset it, or UPSTREAM_URL");
  if (
    settings.ADMIN_PORT !== "off" &&
    !isLoopback(settings.ADMIN_HOST) &&
    settings.ADMIN_TOKEN === undefined
  ) {
    faults.push(`ADMIN_HOST: ${settings.ADMIN_HOST} can be reached from outside; set ADMIN_TOKEN`);
  }
  if (settings.PORT !== 0 && settings.PORT === settings.ADMIN_PORT && settings.HOST === settings.ADMIN_HOST) {
    faults.push(`ADMIN_PORT: ${settings.PORT} is the public listener's port`);
  }
  if (settings.REDIS_URL !== undefined && settings.GATEWAY_SECRET === undefined) {
    faults.push("GATEWAY_SECRET: replicas that share a store need the same one; set it");
  }
  return faults;
}

function flags(args: readonly string[], faults: string[]): Partial<Record<string, string>> {
  const options = Object.fromEntries(names.map((name) => [settingFlag(name), { type: "string" as const }]));
  const { values, tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let valueOfUnknown = false;
  for (const token of tokens) {
    // What follows an unknown flag was meant for it, and may be a secret: it is not printed.
    if (token.kind === "positional" && !valueOfUnknown)
      faults.push(`${token.value}: not a flag; flags look like --port 8080`);
    valueOfUnknown = token.kind === "option" && !Object.hasOwn(options, token.name);
    if (token.kind !== "option") continue;
    if (valueOfUnknown) faults.push(`${token.rawName}: there is no such setting`);
    else if (token.value === undefined) faults.push(`--${token.name}: a value is missing`);
  }
  // A flag without a value, a fault already, is `true`.
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** A value as a fault may show it: a secret not at all, an address without its user and password. */
const shown = (value: string, { secret }: Setting<unknown>): string =>
  secret ? "" : `"${value.replace(/\/\/[^/]*@/, "//***@")}" `;

/**
 * Reads and validates every setting: a flag wins over the environment, and an empty variable counts as unset.
 *
 * @param args command line after the verb, `["--port", "8080"]`
 * @throws {SettingsError} with every fault
 */
export function readSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const faults: string[] = [];
  const given = flags(args, faults);
  const settings: Record<string, unknown> = {};
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const value = given[settingFlag(name)] ?? (environment[name] || undefined) ?? setting.default;
    if (value === undefined) continue;
    try {
      settings[name] = setting.read(value);
    } catch (error) {
      faults.push(`${name}: ${shown(value, setting)}${(error as Error).message}`);
    }
  }
  if (faults.length === 0)
    faults.push(...crossFaults(settings as Settings, environment["NODE_ENV"] === "production"));
  if (faults.length > 0) throw new SettingsError(faults);
  return settings as Settings;
}

/** An address without its user, password and parameters; any other secret not at all. */
function masked(value: string): string {
  if (!URL.canParse(value) || !value.includes("://")) return "***";
  const { protocol, username, password, host, pathname } = new URL(value);
  return `${protocol}//${username || password ? "***@" : ""}${host}${pathname}`;
}

/** A setting as operators may see it. */
export interface ShownSetting {
  readonly value: string;
  readonly given: boolean;
}

/** Every setting that has a value, as it was written, with secrets masked. For settings that could be read. */
export function shownSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, ShownSetting>> {
  const given = flags(args, []);
  return Object.fromEntries(
    names.flatMap((name): [string, ShownSetting][] => {
      const setting: Setting<unknown> = SETTINGS[name];
      const own = given[settingFlag(name)] ?? (environment[name] || undefined);
      const value = own ?? setting.default;
      if (value === undefined) return [];
      return [[name, { value: setting.secret ? masked(value) : value, given: own !== undefined }]];
    }),
  );
}

/** The table that `--help` prints. */
export function settingsHelp(): string {
  return names
    .map((name) => {
      const { default: fallback, help }: Setting<unknown> = SETTINGS[name];
      return `  --${settingFlag(name).padEnd(27)} ${name.padEnd(28)} ${fallback ?? "unset"}\n      ${help}`;
    })
    .join("\n");
}
