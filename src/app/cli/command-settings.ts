/** The settings that commands have as flags. */
import { Option, type Command } from "commander";
import {
  optionName,
  readEnvironment,
  type SettingName,
  SETTINGS,
  type Settings,
  type SettingTexts,
} from "../../base/index.ts";

const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Text for a terminal: without marks of code, and links as their texts. */
const withoutMarkdown = (text: string): string =>
  text.replaceAll("`", "").replaceAll(/\[([^[\]]+)\]\([^()]+\)/g, "$1");

/** `UPSTREAM_URL` → `--upstream-url <value>`. Help shows the meaning, the default and the variable. */
function settingFlag(name: SettingName): Option {
  const { meaning, default: text } = SETTINGS[name];
  const flag = `--${name.toLowerCase().replaceAll("_", "-")} <value>`;
  return new Option(flag, withoutMarkdown(meaning)).default(text, text).env(name);
}

/** The settings that are given as flags. Commander adds those of the environment, which are read elsewhere. */
export const settingTexts = (command: Command): SettingTexts =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => command.getOptionValueSource(optionName(name)) === "cli").map((name) => [
      name,
      command.getOptionValue(optionName(name)) as string,
    ]),
  );

/** The settings that a command that does not serve can use. */
type CommandSetting =
  | "DATA_DIR"
  | "DATABASE_URL"
  | "MAPPINGS_DIR"
  | "WORDS"
  | "PUBLIC_URL"
  | "CLIENTS_FILE"
  | "QUIET_DAYS";
export type CommandSettings = Pick<Settings, CommandSetting>;

/** The settings of commands that read a pack, that replay records, and that read an audit store. */
export const PACK_SETTINGS = ["MAPPINGS_DIR", "WORDS"] as const satisfies readonly CommandSetting[];
export const REPLAY_SETTINGS = [...PACK_SETTINGS, "PUBLIC_URL"] as const satisfies readonly CommandSetting[];
export const STORE_SETTINGS = ["DATA_DIR", "DATABASE_URL"] as const satisfies readonly CommandSetting[];

export const CLIENT_SETTINGS = ["CLIENTS_FILE", "QUIET_DAYS"] as const satisfies readonly CommandSetting[];

/** The settings of commands about the plan. */
export const SUNSET_SETTINGS = [
  "SUNSET_FILE",
  "CLIENTS_FILE",
  ...PACK_SETTINGS,
  ...STORE_SETTINGS,
  "REDIS_URL",
] as const satisfies readonly SettingName[];
export type SunsetSettings = CommandSettings &
  Pick<Settings, "SUNSET_FILE" | "CLIENTS_FILE" | "REDIS_URL" | "AUDIT">;

/** The same for commands about the plan. Redis has a secret wherever it is set. */
export const sunsetSettings = (command: Command): SunsetSettings =>
  readNamed(command, [...SUNSET_SETTINGS, "GATEWAY_SECRET", "AUDIT"]);

/** The settings of commands about comparisons. */
export const PARITY_SETTINGS = [
  ...PACK_SETTINGS,
  "CANDIDATE_MAPPINGS_DIR",
  "DATA_DIR",
  "REDIS_URL",
] as const satisfies readonly SettingName[];

/** Reads them. Redis has a secret wherever it is set. */
export const paritySettings = (command: Command): Settings =>
  readNamed(command, [...PARITY_SETTINGS, "GATEWAY_SECRET"]);

/** The settings of `promote` and `rollback`. */
export const PROMOTE_SETTINGS = [
  "CANDIDATE_MAPPINGS_DIR",
  ...PACK_SETTINGS,
  "DATA_DIR",
  "REDIS_URL",
] as const satisfies readonly SettingName[];
export type PromoteSettings = Pick<Settings, (typeof PROMOTE_SETTINGS)[number]>;

/** Reads them. Redis has a secret wherever it is set. */
export const promoteSettings = (command: Command): PromoteSettings =>
  readNamed(command, [...PROMOTE_SETTINGS, "GATEWAY_SECRET"]);

/** The settings of commands about a rollout. */
export const ROLLOUT_SETTINGS = [
  "ROLLOUT_FILE",
  "CLIENTS_FILE",
  ...PACK_SETTINGS,
  "DATA_DIR",
  "REDIS_URL",
] as const satisfies readonly SettingName[];
export type RolloutSettings = Pick<Settings, (typeof ROLLOUT_SETTINGS)[number]>;

/** The same for commands about a rollout. They need no old service, which the file requires of a gateway. */
export function rolloutSettings(command: Command): RolloutSettings {
  const { ROLLOUT_FILE: flag, ...texts } = settingTexts(command);
  const names = [...ROLLOUT_SETTINGS, "GATEWAY_SECRET"] as const;
  const environment = Object.fromEntries(
    names.filter((name) => name !== "ROLLOUT_FILE").map((name) => [name, process.env[name]]),
  );
  const file = flag ?? process.env["ROLLOUT_FILE"];
  return { ...readEnvironment(environment, texts), ...(file && { ROLLOUT_FILE: file }) };
}

/** The settings of commands about notices. */
export const noticesSettings = (command: Command): Pick<Settings, "NOTICES_FILE" | "AUDIT"> =>
  readNamed(command, ["NOTICES_FILE", "AUDIT"]);

/** Reads settings of a command that does not serve. Invalid variables that it does not use cannot fail it. */
export const commandSettings = (command: Command): CommandSettings =>
  readNamed(command, [...REPLAY_SETTINGS, ...STORE_SETTINGS, ...CLIENT_SETTINGS]);

function readNamed(command: Command, names: readonly SettingName[]): Settings {
  const environment = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return readEnvironment(environment, settingTexts(command));
}

/** Adds settings to a command as flags. */
export function addSettings(command: Command, names: readonly SettingName[], heading = "Settings:"): Command {
  for (const name of names) command.addOption(settingFlag(name).helpGroup(heading));
  return command;
}

/** Called with the exit code of a command. */
export type OnExit = (code: number) => void;
