/** The commands about comparisons: their arguments and flags. The module of a command is loaded when the command runs. */
import { CommanderError, Option, type Command } from "commander";
import { addSettings, PARITY_SETTINGS, paritySettings, type OnExit } from "../command-settings.ts";
import type { ParityExampleFlags, ParityFlags } from "./parity.ts";

/** The exit code of `parity` where nothing can be said. */
const NOT_ANSWERED = 2;

export function addParity(program: Command, onExit: OnExit): void {
  // A gate must tell "answers differ" from "that can't be said".
  const group = program.command("parity").exitOverride((error) => {
    throw new CommanderError(error.exitCode && NOT_ANSWERED, error.code, error.message);
  });
  const sourceOption = (): Option =>
    new Option("--source <source>", "only this source of comparisons").choices(["candidate", "legacy"]);
  const formatOption = (): Option =>
    new Option("--format <format>", "format of the output").choices(["text", "json"]).default("text");
  addSettings(group, PARITY_SETTINGS)
    .description(
      "Print what comparisons of answers have found: by route, whether it is enough, and what differs.",
    )
    .addOption(sourceOption())
    .option("--route <route>", "only this route, for example 'GET /vm/instances/:id'")
    .addOption(formatOption())
    .option("--fail-above <percentage>", "the rate of differing answers that is asked about (default: 0.1%)")
    .addHelpText(
      "after",
      "\nWith --fail-above it exits with 0 if fewer answers differ on each compared route, with 1 if more do, and with 2 if that can't be said.",
    )
    .action(async (flags: ParityFlags) => {
      const { parity } = await import("./parity.ts");
      onExit(await parity(flags, paritySettings(group), group));
    });
  const add = (name: string): Command => addSettings(group.command(name), PARITY_SETTINGS);
  add("show")
    .description(
      "Print an example: both bodies, the rules of the fields that differ, and commands that repeat it.",
    )
    .argument("<id>", "its id, as parity prints it")
    .addOption(formatOption())
    .action(async (id: string, flags: ParityFlags, command: Command) => {
      const { parityShow } = await import("./parity.ts");
      onExit(await parityShow(id, flags, paritySettings(command), command));
    });
  add("example")
    .description("Write a golden case from an example: it expects the answer that the client got.")
    .argument("<id>", "its id, as parity prints it")
    .option("--pack <directory>", "folder of the pack that gets it (default: the current pack)")
    .action(async (id: string, flags: ParityExampleFlags, command: Command) => {
      const { parityExample } = await import("./parity.ts");
      onExit(await parityExample(id, flags, paritySettings(command), command));
    });
  add("reset")
    .description(
      "Forget what was compared, or what one source has compared, so that it begins again. What is known of the old service stays.",
    )
    .addOption(sourceOption())
    .action(async (flags: ParityFlags, command: Command) => {
      const { parityReset } = await import("./parity.ts");
      onExit(await parityReset(flags, paritySettings(command)));
    });
}
