/** Declares the commands of operator features. Each feature lists its own commands. */
import { CommanderError, Option, type Command } from "commander";
import {
  CommandError,
  type CommandResult,
  type FeatureAction,
  type FeatureCommand,
  type FeatureCommands,
  isOperatorError,
} from "../../base/index.ts";
import { addSettings, commandSettings, type OnExit } from "./command-settings.ts";
import type { CommandFeature, CommandNeeds } from "./feature-needs.ts";
import { FEATURE_COMMANDS, type ListedCommand } from "./features.ts";
import { printBlocks, printData, printError, printJson } from "./terminal.ts";

type Declared = FeatureCommand<CommandNeeds, object>;

function printResult({ blocks, data }: CommandResult, format: string | undefined): void {
  if (format === undefined || format === "text") printBlocks(blocks);
  else if (typeof data === "string") printData(data);
  else printJson(data);
}

/** Returns the command of an action; undefined if the command line does not offer it. */
const commandOf = ({ command, accept }: FeatureAction<object>): Declared | undefined =>
  command && {
    ...command,
    async run({ parts, by, given }) {
      const run = accept({ by, ...given }, parts);
      if (!run) throw new CommandError("a text is empty, too long, or has control characters");
      return { blocks: [], ...(await run()) };
    },
  };

/** Returns the argument of a command, `<target>`; undefined if it has none. */
const argumentOf = ({ syntax }: Declared): string | undefined =>
  syntax.split(" ").find((word) => word.startsWith("<"));

/** Returns the flags of a command that are not settings. */
function flagsOf({ flags = [], format }: Declared): Option[] {
  const own = flags.map(({ syntax, description, choices }) => {
    const option = new Option(syntax, description);
    return choices ? option.choices(choices) : option;
  });
  if (format === undefined) return own;
  const formats = new Option("--format <format>", "output format").choices(["text", format]);
  return [...own, formats.default("text")];
}

/** Declares one command of a feature on a command of the command line. */
function declare(
  command: Command,
  feature: CommandFeature,
  commands: FeatureCommands<CommandNeeds, object>,
  each: Declared,
  onExit: OnExit,
): void {
  const { description, argument, note } = each;
  const parameter = argumentOf(each);
  const flags = flagsOf(each);
  addSettings(command, each.settings ?? commands.settings);
  if (description !== undefined) command.description(description);
  if (parameter !== undefined) command.argument(parameter, argument);
  for (const flag of flags) command.addOption(flag);
  if (note !== undefined) command.addHelpText("after", `\n${note}`);
  command.action(async (...args: unknown[]) => {
    const options = command.opts<Record<string, string | undefined>>();
    const given = {
      ...Object.fromEntries(
        flags.map((flag) => [flag.attributeName(), options[flag.attributeName()]] as const),
      ),
      ...(parameter !== undefined && { [parameter.slice(1, -1)]: String(args[0]) }),
    };
    try {
      const { runFeatureCommand } = await import("./run-feature-command.ts");
      const settings = commandSettings(command, commands.otherSettings ?? []);
      const result = await runFeatureCommand(feature, commands, each, { settings, given });
      printResult(result, given["format"]);
      onExit(result.exitCode ?? 0);
    } catch (error) {
      if (error instanceof CommandError) command.error(`error: ${error.message}`);
      const code = each.errorCode?.(given);
      if (code === undefined || !isOperatorError(error)) throw error;
      printError(`${error.code}: ${error.message}\n`);
      onExit(code);
    }
  });
}

/** Adds a command of the first level. The command of a whole feature has subcommands. */
async function addListed({ name, load }: ListedCommand, command: Command, onExit: OnExit): Promise<void> {
  const feature = await load();
  const { commands, actions = [] } = feature;
  if (!commands) return;
  const { usageCode } = commands;
  // A gate must distinguish a result from an unknown result.
  if (usageCode !== undefined)
    command.exitOverride((error) => {
      throw new CommanderError(error.exitCode && usageCode, error.code, error.message);
    });
  for (const each of [...commands.all, ...actions.flatMap((action) => commandOf(action) ?? [])]) {
    const [word = ""] = each.syntax.split(" ");
    if (feature.name === name)
      declare(word === "" ? command : command.command(word), feature, commands, each, onExit);
    else if (word === name) declare(command, feature, commands, each, onExit);
  }
}

/**
 * Adds the commands of all features, in the order of the help. @param isNeeded tests whether the feature of a command
 * must be loaded
 */
export async function addFeatureCommands(
  program: Command,
  onExit: OnExit,
  isNeeded: (name: string) => boolean,
): Promise<void> {
  for (const listed of FEATURE_COMMANDS) {
    const { name, description, isGroup = false } = listed;
    const command = program.command(name).description(description);
    if (isNeeded(name)) await addListed(listed, command, onExit);
    // The help marks commands that have flags.
    else if (!isGroup) command.addOption(new Option("--flags").hideHelp());
  }
}
