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

/** Converts Markdown to text for a terminal: without backticks, and with the texts of links instead of their addresses. */
const withoutMarkdown = (text: string): string =>
  text.replaceAll("`", "").replaceAll(/\[([^[\]]+)\]\([^()]+\)/g, "$1");

/** Converts `UPSTREAM_URL` to `--upstream-url`. */
export const flagOf = (name: SettingName): string => `--${name.toLowerCase().replaceAll("_", "-")}`;

/**
 * Creates the flag of a setting: `--upstream-url <value>` for `UPSTREAM_URL`. The help contains the meaning, the
 * default and the variable.
 */
function settingFlag(name: SettingName): Option {
  const { meaning, default: text } = SETTINGS[name];
  return new Option(`${flagOf(name)} <value>`, withoutMarkdown(meaning)).default(text, text).env(name);
}

/** Returns the settings that are given as flags. Commander adds those of the environment, which are read elsewhere. */
export const settingTexts = (command: Command): SettingTexts =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => command.getOptionValueSource(optionName(name)) === "cli").map((name) => [
      name,
      command.getOptionValue(optionName(name)) as string,
    ]),
  );

/** The settings of commands that read a pack, replay records, read an audit store, or name clients. */
export const PACK_SETTINGS = ["MAPPINGS_DIR", "WORDS"] as const satisfies readonly SettingName[];
export const REPLAY_SETTINGS = [...PACK_SETTINGS, "PUBLIC_URL"] as const satisfies readonly SettingName[];
export const STORE_SETTINGS = ["DATA_DIR", "DATABASE_URL"] as const satisfies readonly SettingName[];
export const CLIENT_SETTINGS = ["CLIENTS_FILE", "QUIET_DAYS"] as const satisfies readonly SettingName[];

/** The settings of commands other than `serve`, with or without flags. */
const USUAL_SETTINGS = [...REPLAY_SETTINGS, ...STORE_SETTINGS, ...CLIENT_SETTINGS] as const;

/**
 * Reads the settings for which a command has flags, and the other settings that it uses. Invalid variables that it does
 * not use can't make the command fail.
 */
export function commandSettings(command: Command, others: readonly SettingName[] = USUAL_SETTINGS): Settings {
  const flags = SETTING_NAMES.filter((name) =>
    command.options.some((option) => option.attributeName() === optionName(name)),
  );
  const names = new Set([...flags, ...others]);
  // A command uses the secret, regardless of the setting that contains it.
  if (names.has("REDIS_URL")) names.add("GATEWAY_SECRET");
  // A gateway that uses this file requires an old service, but a command does not.
  const hasRollout = names.delete("ROLLOUT_FILE");
  const environment = Object.fromEntries([...names].map((name) => [name, process.env[name]]));
  const { ROLLOUT_FILE: flag, ...texts } = settingTexts(command);
  const file = hasRollout ? (flag ?? process.env["ROLLOUT_FILE"]) : undefined;
  return { ...readEnvironment(environment, texts), ...(file && { ROLLOUT_FILE: file }) };
}

/** Adds settings to a command as flags. */
export function addSettings(command: Command, names: readonly SettingName[], heading = "Settings:"): Command {
  for (const name of names) command.addOption(settingFlag(name).helpGroup(heading));
  return command;
}

/** Called with the exit code of a command. */
export type OnExit = (code: number) => void;
