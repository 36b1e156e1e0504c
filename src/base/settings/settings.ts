import type { z } from "zod";
import { redactAddress, redactAddresses } from "./redact-address.ts";
import {
  SETTINGS,
  settingsSchema,
  type SettingName,
  type Settings,
  type SettingValues,
} from "./setting-definitions.ts";
import { isObserving } from "./observing.ts";
import { isLoopback } from "./loopback.ts";
import { SHORTEST_SECRET } from "./setting-types.ts";

/**
 * Invalid settings: all problems, one per line.
 *
 * @example
 * ```ts
 * import { createGateway, SettingsError } from "alpha-gateway";
 *
 * try {
 *   createGateway({ upstreamUrl: process.env["V4_URL"] });
 * } catch (error) {
 *   if (error instanceof SettingsError) console.error(error.problems.join("\n"));
 * }
 * ```
 */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "AG_SETTINGS_INVALID";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(["These settings are invalid:", ...problems.map((problem) => `  ${problem}`)].join("\n"));
    this.problems = problems;
  }
}

const names = Object.keys(SETTINGS) as SettingName[];

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** The settings as options of a program, in camel case: `{ upstreamUrl: "https://v4.example.org", port: 8080 }`. */
export type SettingOptions<Excluded extends SettingName = never> = {
  readonly [Name in Exclude<SettingName, Excluded> as CamelCase<Name>]?: SettingValues[Name];
};

/** `UPSTREAM_URL` → `upstreamUrl` */
export const optionName = (name: string): string =>
  name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const isShort = (secret: string | undefined): boolean =>
  secret !== undefined && secret.length < SHORTEST_SECRET;

type Label = (name: SettingName) => string;

/** Problems of the settings of the old service. */
function oldServiceConflicts(settings: Settings, label: Label): [SettingName, string][] {
  const problems: [SettingName, string][] = [];
  if (settings.ROLLOUT_FILE !== undefined && settings.LEGACY_URL === undefined)
    problems.push([
      "ROLLOUT_FILE",
      `it says who still gets the old service; set ${label("LEGACY_URL")}, or unset it`,
    ]);
  if (settings.ROLLOUT_FILE !== undefined && isObserving(settings))
    problems.push([
      "ROLLOUT_FILE",
      `the gateway observes, and translates nothing; set ${label("UPSTREAM_URL")}, or unset it`,
    ]);
  if (isObserving(settings))
    for (const name of ["SUNSET_FILE", "MIGRATION_PAGE", "SEED"] as const)
      if (settings[name])
        problems.push([
          name,
          `it needs a pack, and with ${label("LEGACY_URL")} alone there is none; unset it`,
        ]);
  return problems;
}

/** Returns the problems of settings that are valid individually but contradict each other. */
function conflicts(settings: Settings, isUpstreamRequired: boolean, label: Label): [SettingName, string][] {
  const { ADMIN_HOST, ADMIN_PORT, HOST, PORT } = settings;
  const problems: [SettingName, string][] = [];
  for (const name of ["UPSTREAM_URL", "AUTH_URL", "LEGACY_URL"] as const) {
    const url = settings[name];
    if (url?.protocol !== "http:" || settings.ALLOW_HTTP_UPSTREAM || isLoopback(url.hostname)) continue;
    const remedy = `use https, or set ${label("ALLOW_HTTP_UPSTREAM")} to true`;
    problems.push([name, `${url.origin} is plain http to another machine; ${remedy}`]);
  }
  for (const name of ["UPSTREAM_CA", "UPSTREAM_CERT"] as const)
    if (
      settings[name] !== undefined &&
      settings.UPSTREAM_URL?.protocol !== "https:" &&
      !(name === "UPSTREAM_CA" && settings.LEGACY_URL?.protocol === "https:")
    )
      problems.push([
        name,
        `only https has certificates; unset it, or set ${label("UPSTREAM_URL")} to https`,
      ]);
  if (settings.UPSTREAM_CERT !== undefined && settings.UPSTREAM_KEY === undefined)
    problems.push(["UPSTREAM_CERT", `it needs its private key; set ${label("UPSTREAM_KEY")}`]);
  if (settings.UPSTREAM_KEY !== undefined && settings.UPSTREAM_CERT === undefined)
    problems.push(["UPSTREAM_KEY", `it is the key of a certificate; set ${label("UPSTREAM_CERT")}`]);
  if (
    isUpstreamRequired &&
    settings.UPSTREAM_URL === undefined &&
    !settings.SANDBOX &&
    !isObserving(settings)
  )
    problems.push(["UPSTREAM_URL", missingUpstream(label)]);
  problems.push(...oldServiceConflicts(settings, label));
  if (settings.SEED !== undefined && settings.UPSTREAM_URL !== undefined)
    problems.push(["SEED", `only the embedded sandbox has a seed; unset it, or ${label("UPSTREAM_URL")}`]);
  if (ADMIN_PORT !== "off" && !isLoopback(ADMIN_HOST) && settings.ADMIN_TOKEN === undefined)
    problems.push(["ADMIN_HOST", `other machines can reach ${ADMIN_HOST}; set ${label("ADMIN_TOKEN")}`]);
  if (ADMIN_PORT !== "off" && !isLoopback(ADMIN_HOST) && isShort(settings.ADMIN_TOKEN))
    problems.push([
      "ADMIN_TOKEN",
      `it must have at least ${SHORTEST_SECRET} characters, or ${label("ADMIN_HOST")} must be a loopback address`,
    ]);
  if (PORT !== 0 && PORT === ADMIN_PORT && HOST === ADMIN_HOST)
    problems.push(["ADMIN_PORT", `${PORT} is the port of the public listener`]);
  if (settings.AUDIT_OTLP !== undefined && settings.AUDIT === "off")
    problems.push([
      "AUDIT_OTLP",
      `nothing is recorded; unset it, or set ${label("AUDIT")} to full or metadata`,
    ]);
  if (settings.MIGRATION_PAGE && settings.AUDIT === "off")
    problems.push([
      "MIGRATION_PAGE",
      `it shows what the audit counts; set it to off, or ${label("AUDIT")} to full or metadata`,
    ]);
  if (settings.REUSE_PORT && settings.REDIS_URL === undefined)
    problems.push([
      "REUSE_PORT",
      `processes that share a port share their limits and tokens, too; set ${label("REDIS_URL")}`,
    ]);
  if (settings.REDIS_URL !== undefined && settings.GATEWAY_SECRET === undefined)
    problems.push(["GATEWAY_SECRET", "all replicas that share a store need the same secret; set it"]);
  return problems;
}

const missingUpstream = (label: Label): string =>
  `it is required; to use the embedded sandbox, whose tokens are public, set ${label("SANDBOX")} to true`;

/** Formats a value for a problem: without secrets, and without the user, password and parameters of an address. */
function quoteValue(value: unknown, name: SettingName): string {
  if (SETTINGS[name].secret) return "the value";
  if (SETTINGS[name].isAddress && (typeof value === "string" || value instanceof URL))
    return JSON.stringify(redactAddress(String(value)));
  return redactAddresses(JSON.stringify(value) ?? String(value));
}

function describeIssue({ path, message }: z.core.$ZodIssue, values: SettingValues): [SettingName, string] {
  const name = path[0] as SettingName;
  return [name, `${quoteValue(values[name], name)} is invalid: ${message}`];
}

/** A value can fail several checks; the first one is reported. */
const isFirstOfSetting = ({ path: [name] }: z.core.$ZodIssue, index: number, issues: z.core.$ZodIssue[]) =>
  issues.findIndex(({ path }) => path[0] === name) === index;

interface ReadSettingsOptions {
  /** Whether `UPSTREAM_URL` or `SANDBOX` must be set. Default: false. */
  readonly isUpstreamRequired?: boolean;
  /** Formats the name of a setting in a problem. Default: as in the environment. */
  readonly label?: Label;
}

/**
 * Validates settings and fills in defaults.
 *
 * @throws {SettingsError} with all problems
 */
export function readSettings(
  values: SettingValues,
  { isUpstreamRequired = false, label = (name) => name }: ReadSettingsOptions = {},
): Settings {
  const { success, data, error } = settingsSchema.safeParse(values);
  const problems = success
    ? conflicts(data, isUpstreamRequired, label)
    : error.issues.filter(isFirstOfSetting).map((issue) => describeIssue(issue, values));
  if (problems.length > 0)
    throw new SettingsError(problems.map(([name, problem]) => `${label(name)}: ${problem}`));
  return data as Settings;
}

/** Texts of settings by their names. */
export type SettingTexts = Readonly<Partial<Record<SettingName, string>>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the texts that are set. A flag overrides the environment, and an empty variable counts as unset. */
export function givenTexts(environment: Environment, flags: SettingTexts = {}): SettingTexts {
  const variables = names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []));
  return { ...Object.fromEntries(variables), ...flags };
}

/**
 * Reads the settings of a process. With `NODE_ENV=production` the embedded sandbox must be requested explicitly.
 *
 * @param flags texts of flags, which override the environment
 * @throws {SettingsError} with all problems
 */
export const readEnvironment = (environment: Environment, flags: SettingTexts = {}): Settings =>
  readSettings(givenTexts(environment, flags) as SettingValues, {
    isUpstreamRequired: environment["NODE_ENV"] === "production",
  });

const SETTING_OF_OPTION: ReadonlyMap<string, SettingName> = new Map(
  names.map((name) => [optionName(name), name]),
);

interface ReadOptionsOptions {
  /** Settings that can't be passed as options. */
  readonly excluded?: readonly SettingName[];
  /** Values of the excluded settings. */
  readonly fixed?: SettingValues;
  /** Problems that the caller has found. */
  readonly problems?: readonly string[];
}

/**
 * Reads the settings that a program gives as options. The embedded sandbox must be requested explicitly.
 *
 * @throws {SettingsError} with all problems; unknown options are problems
 */
export function readOptions(
  options: object,
  { excluded = [], fixed = {}, problems: otherProblems = [] }: ReadOptionsOptions = {},
): Settings {
  const problems = [...otherProblems];
  const values: Partial<Record<SettingName, unknown>> = { ...fixed };
  for (const [option, value] of Object.entries(options)) {
    const name = SETTING_OF_OPTION.get(option);
    if (name === undefined || excluded.includes(name)) problems.push(`${option}: there is no such option`);
    else values[name] = value;
  }
  try {
    const settings = readSettings(values as SettingValues, { isUpstreamRequired: true, label: optionName });
    if (problems.length === 0) return settings;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    problems.push(...error.problems);
  }
  throw new SettingsError(problems);
}

/** Formats a secret address without its user, password and parameters. */
function redactSecretAddress(value: string): string {
  if (!URL.canParse(value)) return "***";
  const { protocol, username, password, host, pathname } = new URL(value);
  return `${protocol}//${username || password ? "***@" : ""}${host}${pathname}`;
}

/** Formats settings for operators: secrets are redacted. */
export const redactSettings = (texts: SettingTexts): SettingTexts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const { secret, isAddress } = SETTINGS[name as SettingName];
      if (!secret) return [name, text];
      return [name, isAddress ? redactSecretAddress(text) : "***"];
    }),
  );

/** The texts of the defaults. */
export const DEFAULT_TEXTS: SettingTexts = Object.fromEntries(
  names.flatMap((name) => (SETTINGS[name].default === undefined ? [] : [[name, SETTINGS[name].default]])),
);

/**
 * Whether several clients may share an address, that of a proxy. Only `TRUST_PROXY` excludes this, because it names the
 * proxies, or states that there are none.
 */
export const mayShareAddresses = ({ TRUST_PROXY }: Pick<Settings, "TRUST_PROXY">): boolean =>
  TRUST_PROXY === undefined;
