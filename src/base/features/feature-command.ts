/**
 * Commands about features, `alpha-gateway NAME COMMAND`. They open a feature as a gateway does, and change the state
 * that replicas share. Commands that the admin API also offers are actions.
 */
import type { Block } from "../blocks/block.ts";
import type { SettingName, Settings } from "../settings/setting-definitions.ts";

/** The arguments and services of a command. */
export interface CommandInput<Needs, Parts> {
  /** The opened parts of the feature; undefined if it is off. */
  readonly parts: Parts;
  readonly needs: Needs;
  readonly settings: Settings;
  /** The command's argument and own flags, by name. */
  readonly given: Readonly<Record<string, string | undefined>>;
  /** The user of this machine who runs the command. */
  readonly by: string;
  /** Shows the number of records that were read. */
  readonly onProgress: (done: number) => void;
}

/** The output of a command. */
export interface CommandResult {
  readonly blocks: readonly Block[];
  /** The result for programs that request JSON or YAML: a text, or a value that is printed as JSON. */
  readonly data?: unknown;
  /** The exit code; 0 if omitted. */
  readonly exitCode?: number;
}

/** A flag that is not a setting. */
export interface CommandFlag {
  /** The flag with its value, such as `--reason <text>`. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
}

/** The syntax of a command. */
export interface CommandSyntax {
  /**
   * The text after the name of the feature, with the argument, such as `turn-back <target>`. Empty if the name of the
   * feature is the whole command.
   */
  readonly syntax: string;
  /** The description in the help. The command line describes first-level commands itself. */
  readonly description?: string;
  /** Description of the argument. */
  readonly argument?: string;
  /** Follows the flags in the help. */
  readonly note?: string;
  readonly flags?: readonly CommandFlag[];
  /** The settings that the command accepts as flags, if it needs fewer than the feature. */
  readonly settings?: readonly SettingName[];
  /** The other format that the command can print. */
  readonly format?: "json" | "yaml";
  /**
   * Set if the command reads the audit store. `where there is one`: only if the store exists. `needed`: the command
   * fails if there is no store.
   */
  readonly audit?: "where there is one" | "needed";
  /** Whether the command runs even if the settings don't turn the feature on. */
  readonly runsWhileOff?: boolean;
  /** The reason why the command can't run before a gateway has created a state store. */
  readonly withoutStore?: string;
  /** Returns the exit code for an error that an operator can correct. Default: the command line's. */
  errorCode?(given: Readonly<Record<string, string | undefined>>): number | undefined;
}

/** A command about a feature. */
export interface FeatureCommand<Needs, Parts> extends CommandSyntax {
  /** @throws an error with a `code` if an operator can correct it */
  run(input: CommandInput<Needs, Parts>): CommandResult | Promise<CommandResult>;
}

/** The commands of a feature. */
export interface FeatureCommands<Needs, Parts> {
  /** Settings that every command accepts as flags. `otherSettings` are only read from the environment. */
  readonly settings: readonly SettingName[];
  readonly otherSettings?: readonly SettingName[];
  /** The reason why the feature is off, such as `there is no plan`. */
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

/** Returns the texts as printed lines, one block per text. */
export const lines = (...all: readonly string[]): Block[] => [{ kind: "list", items: all }];
