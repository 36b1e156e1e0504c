/** The commands of a rollout: their arguments and flags. The module of a command is loaded when the command runs. */
import { Option, type Command } from "commander";
import { addSettings, ROLLOUT_SETTINGS, rolloutSettings, type OnExit } from "../command-settings.ts";
import type { RolloutFlags, TurnBackFlags } from "./rollout.ts";

export function addRollout(program: Command, onExit: OnExit): void {
  const rollout = addSettings(program.command("rollout"), ROLLOUT_SETTINGS)
    .description("Show who gets the translation and why, and what has returned to the old service.")
    .addOption(
      new Option("--format <format>", "format of the output").choices(["text", "json"]).default("text"),
    )
    .addHelpText("after", "\nExits with 0, or with 1 if something has returned.")
    .action(async (flags: RolloutFlags, command: Command) => {
      const { showRollout } = await import("./rollout.ts");
      onExit(await showRollout(flags, rolloutSettings(command), command));
    });
  addSettings(rollout.command("turn-back"), ROLLOUT_SETTINGS)
    .description("Return a route, a client or everything to the old service, on all replicas.")
    .argument("<target>", "a route of the pack, a client of CLIENTS_FILE, or all")
    .option("--reason <text>", "why, for those who read the state")
    .action(async (target: string, flags: TurnBackFlags, command: Command) => {
      const { turnBackByCommand } = await import("./rollout.ts");
      onExit(await turnBackByCommand(target, flags, rolloutSettings(command), command));
    });
  addSettings(rollout.command("resume"), ROLLOUT_SETTINGS)
    .description("Serve what has returned as the file says again.")
    .argument("<target>", "a route, a client, or all")
    .action(async (target: string, _flags: object, command: Command) => {
      const { resumeByCommand } = await import("./rollout.ts");
      onExit(await resumeByCommand(target, rolloutSettings(command), command));
    });
}
