import { Command, CommanderError, InvalidArgumentError } from "commander";
import { readEnvironment, SETTING_SECTIONS } from "../../base/index.ts";
import { addSettings, commandSettings, settingTexts, type OnExit } from "./command-settings.ts";
import {
  addAudit,
  addCoverage,
  addExport,
  addImpact,
  addReplay,
  addReport,
} from "./migration/migration-commands.ts";
import { addFeatureCommands } from "./feature-commands.ts";
import { addCheck } from "./authoring/check/check-command.ts";
import { addExplain, addInit, addOpenapi } from "./authoring/pack-commands.ts";
import type { SandboxFlags } from "./sandbox.ts";
import { print, printError } from "./terminal.ts";

/** Returns the text that is printed after an error about a flag of `serve`, so that all problems are reported together. */
function settingProblems(serve: Command): string {
  try {
    readEnvironment(process.env, settingTexts(serve));
    return "";
  } catch (error) {
    return `${errorMessage(error)}\n`;
  }
}

/**
 * Formats an error of commander with its code. It omits the value of an unknown flag, which may be a secret
 * (`--admin-tokn=secret`).
 */
const formatUsageError = (message: string): string =>
  message.replace(/^(error: unknown option '-[^='\n]*)=[^]*'/, "$1'").replace(/^error:/, "AG_USAGE:");

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("It must be a port, 0 to 65535.");
  return Number(text);
}

function addServe(program: Command, onExit: OnExit): void {
  const serve = program
    .command("serve")
    .description(
      "Run the gateway. Each setting is a flag and an environment variable. The flag has precedence.",
    )
    .option("--announce", "accept plan dates that are earlier than the published dates")
    .action(async ({ announce: isAnnounced }: { readonly announce?: true }) => {
      const { serve: run } = await import("./serve.ts");
      onExit(await run(settingTexts(serve), { isAnnounced }));
    });
  for (const [section, names] of Object.entries(SETTING_SECTIONS)) addSettings(serve, names, `${section}:`);
  serve.configureOutput({
    outputError: (message, write) => write(formatUsageError(message) + settingProblems(serve)),
  });
}

function addSandbox(program: Command, onExit: OnExit): void {
  addSettings(program.command("sandbox"), ["WORDS"])
    .description("Run only the v4 sandbox and its login server.")
    .option("--host <address>", "address of both listeners", "127.0.0.1")
    .option("--port <port>", "port of the sandbox", readPort, 8090)
    .option("--auth-port <port>", "port of the login server (default: the next one)", readPort)
    .option("--seed <file>", "YAML or JSON file of accounts to add")
    .option("--weekly-wipe", "reset all data each Sunday at midnight, Eastern Time")
    .action(async (flags: SandboxFlags, command: Command) => {
      const { sandbox } = await import("./sandbox.ts");
      onExit(await sandbox(flags, commandSettings(command)));
    });
}

/** The commands in the order of the help. */
const COMMANDS = [
  addServe,
  addCheck,
  addInit,
  addExplain,
  addOpenapi,
  addReport,
  addImpact,
  addCoverage,
  addExport,
  addReplay,
  addFeatureCommands,
  addAudit,
  addSandbox,
];

/**
 * Declares each command with its arguments and flags. The module of a command is loaded when the command runs: a
 * gateway in front of a real service never loads the sandbox.
 *
 * @param onExit called with the exit code of the command
 * @param args the command line, which selects the features to load. Default: all are loaded
 */
export async function createCommandLine(onExit: OnExit, args?: readonly string[]): Promise<Command> {
  const program = new Command("alpha-gateway")
    .description(
      "A drop-in base URL for clients of an old API: it calls the new API and responds like the old one.",
    )
    .exitOverride()
    // A command and its subcommand may have flags with the same name.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: print,
      writeErr: printError,
      outputError: (message, write) => write(formatUsageError(message)),
    })
    .showHelpAfterError("Run the command with --help to see its arguments and flags.");

  for (const addCommand of COMMANDS)
    await addCommand(program, onExit, (name) => args?.includes(name) ?? true);
  return program;
}

/**
 * Returns the message of an error. An operator can correct errors with a code. Others are bugs, and their message
 * contains a stack trace.
 */
function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!("code" in error) || typeof error.code !== "string") return error.stack ?? error.message;
  return error.code.startsWith("AG_") ? `${error.code}: ${error.message}` : error.message;
}

/**
 * Runs a command.
 *
 * @param args command and flags, for example `["check", "./mappings"]`; none prints the help
 * @returns the exit code: 0, or 1 after an error that has been printed
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = await createCommandLine((code) => {
    exitCode = code;
  }, args);
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    // Commander has already printed its own errors.
    if (error instanceof CommanderError) return error.exitCode;
    printError(`${errorMessage(error)}\n`);
    return 1;
  }
  return exitCode;
}
