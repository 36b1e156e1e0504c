/**
 * Commands about features, `alpha-gateway NAME COMMAND`. They open a feature as a gateway does, and change the state
 * that replicas share. Commands that the admin API offers too are actions.
 */
import type { Block } from "../blocks/block.ts";
import type { SettingName, Settings } from "../settings/setting-definitions.ts";

/** The arguments and services of a command. */
export interface CommandInput<Needs, Parts> {
  /** Nothing where the feature is off. */
  readonly parts: Parts;
  readonly needs: Needs;
  readonly settings: Settings;
  /** The argument and the command's own flags, by name. */
  readonly given: Readonly<Record<string, string | undefined>>;
  /** The user of this machine who runs it. */
  readonly by: string;
  /** Shows how many records were read. */
  readonly onProgress: (done: number) => void;
}

/** The output of a command. */
export interface CommandResult {
  readonly blocks: readonly Block[];
  /** For programs that request another format than text: a text, or a value that is printed as JSON. */
  readonly data?: unknown;
  /** Default: 0. */
  readonly exitCode?: number;
}

/** A flag that is no setting. */
export interface CommandFlag {
  /** `--reason <text>`. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
}

/** How a command is given. */
export interface CommandSyntax {
  /** The text after the name of the feature, with the argument: `turn-back <target>`. Empty: nothing. */
  readonly syntax: string;
  /** For the help. Commands of the first level are described where the command line lists them. */
  readonly description?: string;
  /** Description of the argument. */
  readonly argument?: string;
  /** Follows the flags in the help. */
  readonly note?: string;
  readonly flags?: readonly CommandFlag[];
  /** The settings that it has as flags, where it needs fewer than the feature. */
  readonly settings?: readonly SettingName[];
  /** The other format than text that it prints. */
  readonly format?: "json" | "yaml";
  /**
   * Set if the command reads the audit store. `where there is one`: only if the store exists. `needed`: it fails
   * without one.
   */
  readonly audit?: "where there is one" | "needed";
  /** Whether it also runs if the settings don't turn the feature on. */
  readonly runsWhileOff?: boolean;
  /** Why it can't run before a gateway has created a state store. */
  readonly withoutStore?: string;
  /** The exit code for an error that an operator has to correct. Default: the command line's. */
  errorCode?(given: Readonly<Record<string, string | undefined>>): number | undefined;
}

/** A command about a feature. */
export interface FeatureCommand<Needs, Parts> extends CommandSyntax {
  /**
   * @throws An error that an operator can correct has a `code`.
   * @throws What an operator has to correct has a `code`.
   */
  run(input: CommandInput<Needs, Parts>): CommandResult | Promise<CommandResult>;
}

/** The commands of a feature. */
export interface FeatureCommands<Needs, Parts> {
  /** Settings that each command has as a flag. `otherSettings` are read from the environment alone. */
  readonly settings: readonly SettingName[];
  readonly otherSettings?: readonly SettingName[];
  /** The reason if the settings don't turn the feature on: `there is no plan`. */
  readonly absence: string;
  /** The exit code of invalid flags. Default: 1. */
  readonly usageCode?: number;
  readonly all: readonly FeatureCommand<Needs, Parts>[];
}

/** The command can't be carried out. */
export class CommandError extends Error {
  readonly code = "AG_USAGE";
  override readonly name = "CommandError";
}

/** Text as a command prints it, one line each. */
export const lines = (...all: readonly string[]): Block[] => [{ kind: "list", items: all }];
