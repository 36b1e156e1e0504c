import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EXPORT_FORMATS } from "../audit/export/format-names.ts";
import { SETTING_SECTIONS } from "../config/setting-definitions.ts";
import { readEnvironment } from "../config/settings.ts";
import type { CheckFlags } from "./check.ts";
import type { ClientsFlags } from "./clients.ts";
import type { OperatorFileFlags } from "./check-operator-files.ts";
import {
  addSettings,
  CLIENT_SETTINGS,
  commandSettings,
  noticesSettings,
  PACK_SETTINGS,
  REPLAY_SETTINGS,
  settingTexts,
  STORE_SETTINGS,
  SUNSET_SETTINGS,
  sunsetSettings,
} from "./command-settings.ts";
import type { EraseFlags } from "./erase.ts";
import type { ExplainFlags } from "./explain.ts";
import type { ExportFlags } from "./export.ts";
import type { ImpactFlags } from "./impact.ts";
import type { InitFlags } from "./init.ts";
import type { ReplayFlags } from "./replay.ts";
import type { ReportFlags } from "./report.ts";
import type { SunsetFlags } from "./sunset.ts";
import type { SandboxFlags } from "./sandbox.ts";
import { print, printError } from "./terminal.ts";

const SCHEMA_KINDS = [
  "resource",
  "pack",
  "surface",
  "example",
  "catalogs",
  "sunset",
  "clients",
  "notices",
] as const;

/** Follows an error about a flag of `serve`, so that all problems are reported together. */
function settingProblems(serve: Command): string {
  try {
    readEnvironment(process.env, settingTexts(serve));
    return "";
  } catch (error) {
    return `${errorMessage(error)}\n`;
  }
}

/**
 * An error of commander with its code, and without the value of an unknown flag: it may be a secret, as in
 * `--admin-tokn=secret`.
 */
const formatUsageError = (message: string): string =>
  message.replace(/^(error: unknown option '-[^='\n]*)=[^]*'/, "$1'").replace(/^error:/, "AG_USAGE:");

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("It must be a port, 0 to 65535.");
  return Number(text);
}

const collect = (value: string, values: readonly string[] = []): readonly string[] => [...values, value];

/** Flags that select audit records. */
const addRecordFilters = (command: Command): Command =>
  command
    .option(
      "--client <client>",
      "only requests of this client: a name of CLIENTS_FILE, a fingerprint, application:ID or label:NAME",
    )
    .option("--lane <lane>", "only this lane: alpha or native")
    .option("--route <route>", "only requests of this route, for example 'GET /vm/instances/:id'")
    .option("--status <status>", "only responses with this status")
    .option("--since <time>", "only requests from this time on, ISO 8601")
    .option("--until <time>", "only requests before this time, ISO 8601");

/** Called with the exit code of a command. */
type OnExit = (code: number) => void;

function addServe(program: Command, onExit: OnExit): void {
  const serve = program
    .command("serve")
    .description("Run the gateway. Each setting is a flag and an environment variable; the flag wins.")
    .option("--announce", "accept a plan with dates that are earlier than those that were published")
    .action(async ({ announce: isAnnounced }: { readonly announce?: true }) => {
      const { serve: run } = await import("./serve.ts");
      onExit(await run(settingTexts(serve), { isAnnounced }));
    });
  for (const [section, names] of Object.entries(SETTING_SECTIONS)) addSettings(serve, names, `${section}:`);
  serve.configureOutput({
    outputError: (message, write) => write(formatUsageError(message) + settingProblems(serve)),
  });
}

function addCheck(program: Command, onExit: OnExit): void {
  addSettings(program.command("check"), ["MAPPINGS_DIR"])
    .description("Validate a mapping pack, run its examples, and print what it covers.")
    .argument("[directory]", "folder of the pack; wins over --mappings-dir")
    .option(
      "--laws",
      "check with generated values: round trips, compiled expressions, filters by value tables, and errors",
    )
    .option("--seed <number>", "seed of the generated values (default: 1)")
    .option("--emit", "print the JavaScript that expressions and objects compile to")
    .option(
      "--update",
      "give golden cases the actual results, after a deliberate change, and print the difference",
    )
    .option("--sunset <file>", "check a plan by which the old API ends, as SUNSET_FILE names it")
    .option("--clients <file>", "check a client directory, as CLIENTS_FILE names it")
    .option("--notices <file>", "check the receivers of notices, as NOTICES_FILE names them")
    .option("--announce", "with --sunset: allow dates that are earlier than those that were published")
    .addOption(new Option("--watch", "check again after each change of a file").conflicts("update"))
    .addOption(
      new Option("--schema <kind>", "print the JSON Schema of a kind of file, for editors").choices(
        SCHEMA_KINDS,
      ),
    )
    .action(
      async (directory: string | undefined, options: CheckFlags & OperatorFileFlags, command: Command) => {
        if ([options.sunset, options.clients, options.notices].some((file) => file !== undefined)) {
          const { checkOperatorFiles } = await import("./check-operator-files.ts");
          return onExit(await checkOperatorFiles(directory, options, sunsetSettings(command)));
        }
        const { check } = await import("./check.ts");
        return onExit(await check(directory ?? commandSettings(command).MAPPINGS_DIR, options));
      },
    );
}

function addInit(program: Command, onExit: OnExit): void {
  program
    .command("init")
    .description(
      "Write a small mapping pack for another pair of APIs, and check it. Asks five questions at a terminal.",
    )
    .argument("<directory>", "folder of the new pack; it must not exist, or be empty")
    .option("--object <name>", "what one object is called (default: book)")
    .option("--client-path <path>", "the list in the old API (default: /v1/books)")
    .option("--upstream-path <path>", "the list in the new API (default: /api/items)")
    .option("--scheme <scheme>", "scheme of the Authorization header, none without tokens (default: Bearer)")
    .option("--fields <fields>", "old=new, separated by commas (default: id,title=name)")
    .action(async (directory: string, options: InitFlags, command: Command) => {
      const { init } = await import("./init.ts");
      onExit(await init(directory, options, command));
    });
}

function addExplain(program: Command, onExit: OnExit): void {
  addSettings(program.command("explain"), PACK_SETTINGS)
    .description(
      "Print the upstream calls for a client's request as curl commands, and the losses. Send nothing.",
    )
    .argument("<request>", "the request in quotes, for example 'GET /vm/instances?page=2'")
    .option("-H, --header <line>", "a header, 'Name: value'; can be repeated", collect)
    .option("-d, --data <json>", "the body")
    .addHelpText(
      "after",
      "\nTo run the commands, set TOKEN to a token of the upstream, and the variable before the path, such as V4, to its address.",
    )
    .action(async (request: string, options: ExplainFlags, command: Command) => {
      const { explain } = await import("./explain.ts");
      onExit(await explain(request, options, commandSettings(command), command));
    });
}

function addOpenapi(program: Command, onExit: OnExit): void {
  addSettings(program.command("openapi"), PACK_SETTINGS)
    .description("Print an OpenAPI 3.1 description of the API that clients use, as JSON.")
    .argument("[directory]", "folder of the pack; wins over --mappings-dir")
    .action(async (directory: string | undefined, _options: object, command: Command) => {
      const { openapi } = await import("./openapi.ts");
      const settings = commandSettings(command);
      onExit(openapi({ ...settings, MAPPINGS_DIR: directory ?? settings.MAPPINGS_DIR }));
    });
}

function addReport(program: Command, onExit: OnExit): void {
  addSettings(program.command("report"), [...STORE_SETTINGS, ...PACK_SETTINGS, ...CLIENT_SETTINGS])
    .description("Print the migration report: which clients use the old API, and what each has to change.")
    .addOption(
      new Option("--format <format>", "format of the report")
        .choices(["md", "html", "json", "csv"])
        .default("md"),
    )
    .option(
      "--client <client>",
      "only this client: a name of CLIENTS_FILE, a fingerprint, application:ID or label:NAME; none: requests without a token; unaccepted: tokens that the upstream does not know",
    )
    .option("--since <day>", "only from this day on, in UTC")
    .option("--until <day>", "only before this day, in UTC")
    .action(async (options: ReportFlags, command: Command) => {
      const { report } = await import("./report.ts");
      onExit(await report(options, commandSettings(command), command));
    });
}

/** The exit code of `impact` where nothing can be said. */
const NOT_ANSWERED = 2;

function addImpact(program: Command, onExit: OnExit): void {
  // A gate must tell "a client is touched" from "that can't be said".
  const command = program.command("impact").exitOverride((error) => {
    throw new CommanderError(error.exitCode && NOT_ANSWERED, error.code, error.message);
  });
  addSettings(command, [...STORE_SETTINGS, ...PACK_SETTINGS, "CLIENTS_FILE"])
    .description(
      "Print which clients would notice: if a route, a field or a word were gone, or an edition changed.",
    )
    .option("--route <route>", "a route, for example 'GET /vm/instances/:id'")
    .option("--field <name>", "a member, a parameter or a field of a filter: label, body.label, query.page")
    .option("--word <field=word>", "a word of a field: status=running, body.status=running")
    .option("--pack <directory>", "folder of a changed pack, compared with the current one")
    .option(
      "--openapi <files...>",
      "two editions of the new API's OpenAPI document: the old one and the new one",
    )
    .option("--since <day>", "only calls from this day on, in UTC")
    .option("--until <day>", "only calls before this day, in UTC")
    .addOption(
      new Option("--format <format>", "format of the output")
        .choices(["text", "markdown", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      "\nExits with 0 if no client is touched, with 1 if one is by a breaking change, and with 2 if that can't be said.",
    )
    .action(async (flags: ImpactFlags) => {
      const { impact } = await import("./impact.ts");
      onExit(await impact(flags, commandSettings(command), command));
    });
}

function addClients(program: Command, onExit: OnExit): void {
  addSettings(program.command("clients"), [...STORE_SETTINGS, ...CLIENT_SETTINGS])
    .description("List the clients that CLIENTS_FILE does not name, those with the most requests first.")
    .addOption(
      new Option("--format <format>", "text, or entries for CLIENTS_FILE")
        .choices(["text", "yaml"])
        .default("text"),
    )
    .action(async (options: ClientsFlags, command: Command) => {
      const { listClients } = await import("./clients.ts");
      onExit(await listClients(options, commandSettings(command)));
    });
}

function addExport(program: Command, onExit: OnExit): void {
  addRecordFilters(
    addSettings(program.command("export"), [...STORE_SETTINGS, ...PACK_SETTINGS, "CLIENTS_FILE"]),
  )
    .description("Print audit records, newest first. Records written during the export are not included.")
    .addOption(
      new Option("--format <format>", "format of the export").choices(EXPORT_FORMATS).default("ndjson"),
    )
    .action(async (options: ExportFlags, command: Command) => {
      const { exportRecords } = await import("./export.ts");
      onExit(await exportRecords(options, commandSettings(command), command));
    });
}

function addReplay(program: Command, onExit: OnExit): void {
  addRecordFilters(addSettings(program.command("replay"), REPLAY_SETTINGS))
    .description(
      "Run recorded requests under a pack, with the upstream responses that were recorded, and print what would change. Send nothing.",
    )
    .requiredOption(
      "--from <source>",
      "NDJSON file of an export, compressed or not, - for standard input, data folder, or postgres:// address of an audit store",
    )
    .option("--pack <directory>", "folder of the other pack (default: the current pack)")
    .addHelpText(
      "after",
      "\nPrints the first record of each kind of change. Exits with 0 if nothing changes, with 1 if something does, and with 2 if nothing could be compared.",
    )
    .action(async (options: ReplayFlags, command: Command) => {
      const { replay } = await import("./replay.ts");
      onExit(await replay(options, commandSettings(command), command));
    });
}

function addSunset(program: Command, onExit: OnExit): void {
  const sunset = program
    .command("sunset")
    .description("Show, simulate and announce the plan by which the old API ends.");
  const addFormat = (command: Command): Command =>
    addSettings(command, SUNSET_SETTINGS).addOption(
      new Option("--format <format>", "format of the output").choices(["text", "json"]).default("text"),
    );
  addFormat(sunset.command("status"))
    .description("Print the stages: what runs now, what is next, and who paused it.")
    .action(async (flags: SunsetFlags, command: Command) => {
      const { sunsetStatus } = await import("./sunset.ts");
      onExit(await sunsetStatus(flags, sunsetSettings(command), command));
    });
  addFormat(sunset.command("simulate"))
    .description(
      "Run the plan over the recorded weeks: who is hit, when, and how many calls. Change nothing.",
    )
    .action(async (flags: SunsetFlags, command: Command) => {
      const { sunsetSimulate } = await import("./sunset.ts");
      onExit(await sunsetSimulate(flags, sunsetSettings(command), command));
    });
  addSettings(sunset.command("announce"), SUNSET_SETTINGS)
    .description("Accept dates that are earlier than those that were published before.")
    .action(async (_flags: object, command: Command) => {
      const { sunsetAnnounce } = await import("./sunset.ts");
      onExit(await sunsetAnnounce(sunsetSettings(command), command));
    });
}

function addNotices(program: Command, onExit: OnExit): void {
  const notices = program.command("notices").description("Try the receivers of notices.");
  addSettings(notices.command("test"), ["NOTICES_FILE"])
    .description("Send one notice to each receiver, and print what happened. Contacts of clients get none.")
    .action(async (_flags: object, command: Command) => {
      const { testNotices } = await import("./notices.ts");
      onExit(await testNotices(noticesSettings(command), command));
    });
}

function addAudit(program: Command, onExit: OnExit): void {
  const audit = program.command("audit").description("Change the audit store.");
  addSettings(audit.command("erase"), [...STORE_SETTINGS, "CLIENTS_FILE"])
    .description(
      "Erase the records, summaries and tokens of one client. The store keeps an entry that says so. A gateway may use it meanwhile.",
    )
    .requiredOption(
      "--client <client>",
      "name in CLIENTS_FILE, fingerprint of a token, application:ID, or label:NAME",
    )
    .action(async (options: EraseFlags, command: Command) => {
      const { eraseClient } = await import("./erase.ts");
      onExit(await eraseClient(options, commandSettings(command), command));
    });
}

function addSandbox(program: Command, onExit: OnExit): void {
  addSettings(program.command("sandbox"), ["WORDS"])
    .description("Run the v4 sandbox and its login server alone.")
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
  addClients,
  addExport,
  addReplay,
  addSunset,
  addNotices,
  addAudit,
  addSandbox,
];

/**
 * Declares each command with its arguments and flags. The module of a command is loaded when the command runs: a
 * gateway in front of a real service never loads the sandbox.
 *
 * @param onExit called with the exit code of the command
 */
export function createCommandLine(onExit: OnExit): Command {
  const program = new Command("alpha-gateway")
    .description(
      "A drop-in base URL for clients of an old API: it calls the new API and responds like the old one.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: printError,
      outputError: (message, write) => write(formatUsageError(message)),
    })
    .showHelpAfterError("Run the command with --help to see its arguments and flags.");

  for (const addCommand of COMMANDS) addCommand(program, onExit);
  return program;
}

/** Errors that an operator can correct have a code, their own or Node's. Others are bugs, and print a stack trace. */
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
  const program = createCommandLine((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    // Commander has printed its own errors.
    if (error instanceof CommanderError) return error.exitCode;
    printError(`${errorMessage(error)}\n`);
    return 1;
  }
  return exitCode;
}
