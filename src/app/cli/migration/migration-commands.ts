/** The commands of a migration: their arguments and flags. The module of a command is loaded when the command runs. */
import { CommanderError, InvalidArgumentError, Option, type Command } from "commander";
import type { ExportFormat, RecordFilter } from "../../../audit/index.ts";
import {
  addSettings,
  CLIENT_SETTINGS,
  commandSettings,
  PACK_SETTINGS,
  REPLAY_SETTINGS,
  STORE_SETTINGS,
  type OnExit,
} from "../command-settings.ts";
import type { CoverageFlags } from "./coverage.ts";
import type { EraseFlags } from "./erase.ts";
import type { ExportFlags } from "./export.ts";
import type { ImpactFlags } from "./impact.ts";
import type { ReplayFlags } from "../compare/replay.ts";
import type { ReportFlags } from "./report.ts";

/** Names of the export formats. They are duplicated here, so that the help does not load `audit`. */
const FORMAT_FLAGS = Object.keys({
  ndjson: true,
  "ndjson.zst": true,
  csv: true,
  har: true,
} satisfies Record<ExportFormat, true>);

const CLIENT_FLAG = "only this client: a name, fingerprint, application:ID, label:NAME or agent:FAMILY";

/** The flags that select audit records: the name of the value, and its description. */
const RECORD_FILTER_FLAGS: Readonly<Record<RecordFilter, readonly [value: string, description: string]>> = {
  client: ["client", CLIENT_FLAG],
  lane: ["lane", "only this lane: alpha, native or legacy"],
  route: ["route", "only requests of this route, for example 'GET /vm/instances/:id'"],
  status: ["status", "only responses with this status"],
  since: ["time", "only requests from this time on, ISO 8601"],
  until: ["time", "only requests before this time, ISO 8601"],
};

function addRecordFilters(command: Command): Command {
  for (const [name, [value, description]] of Object.entries(RECORD_FILTER_FLAGS))
    command.option(`--${name} <${value}>`, description);
  return command;
}

export function addReport(program: Command, onExit: OnExit): void {
  addSettings(program.command("report"), [...STORE_SETTINGS, ...PACK_SETTINGS, ...CLIENT_SETTINGS])
    .description(
      "Print the migration report: the clients that use the old API, and the changes that each needs.",
    )
    .addOption(
      new Option("--format <format>", "format of the report")
        .choices(["md", "html", "json", "csv"])
        .default("md"),
    )
    .option("--client <client>", `${CLIENT_FLAG}; none: no token; unaccepted: unknown tokens`)
    .option("--search <text>", "only clients whose name, application, token or user agent contains this text")
    .option("--since <day>", "only from this day on, in UTC")
    .option("--until <day>", "only before this day, in UTC")
    .action(async (options: ReportFlags, command: Command) => {
      const { report } = await import("./report.ts");
      onExit(await report(options, commandSettings(command), command));
    });
}

/** The exit code of `impact` if the result is unknown. */
const NOT_ANSWERED = 2;

export function addImpact(program: Command, onExit: OnExit): void {
  // A gate must distinguish "a client is affected" from an unknown result.
  const command = program.command("impact").exitOverride((error) => {
    throw new CommanderError(error.exitCode && NOT_ANSWERED, error.code, error.message);
  });
  addSettings(command, [...STORE_SETTINGS, ...PACK_SETTINGS, "CLIENTS_FILE"])
    .description("Print the clients that a change to a route, a field, a word, the pack or v4 would affect.")
    .option("--route <route>", "a route, for example 'GET /vm/instances/:id'")
    .option("--field <name>", "a member, a parameter or a field of a filter: label, body.label, query.page")
    .option("--word <field=word>", "a word of a field: status=running, body.status=running")
    .option("--pack <directory>", "folder of a changed pack, compared with the current one")
    .option("--openapi <files...>", "two versions of the new API's OpenAPI document, the older first")
    .option("--since <day>", "only calls from this day on, in UTC")
    .option("--until <day>", "only calls before this day, in UTC")
    .addOption(
      new Option("--format <format>", "output format").choices(["text", "markdown", "json"]).default("text"),
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

export function addExport(program: Command, onExit: OnExit): void {
  addRecordFilters(
    addSettings(program.command("export"), [...STORE_SETTINGS, ...PACK_SETTINGS, "CLIENTS_FILE"]),
  )
    .description("Print audit records, newest first. Records written during the export are not included.")
    .addOption(
      new Option("--format <format>", "format of the export").choices(FORMAT_FLAGS).default("ndjson"),
    )
    .action(async (options: ExportFlags, command: Command) => {
      const { exportRecords } = await import("./export.ts");
      onExit(await exportRecords(options, commandSettings(command), command));
    });
}

export function addReplay(program: Command, onExit: OnExit): void {
  addRecordFilters(addSettings(program.command("replay"), REPLAY_SETTINGS))
    .description(
      "Run recorded requests with a pack and the recorded upstream responses, and print the changes. Send nothing.",
    )
    .requiredOption(
      "--from <source>",
      "NDJSON file of an export, compressed or not, - for standard input, data folder, or postgres:// address of an audit store",
    )
    .option("--pack <directory>", "folder of the changed pack (default: the current pack)")
    .option("--parity", "with --pack: summarize the differences, as parity does")
    .addHelpText(
      "after",
      "\nPrints the first record of each kind of change. Exits with 0 if nothing changes, with 1 if something does, and with 2 if nothing could be compared.",
    )
    .action(async (options: ReplayFlags, command: Command) => {
      const { replay } = await import("../compare/replay.ts");
      onExit(await replay(options, commandSettings(command), command));
    });
}

/** Parses `99%` or `99`. @throws {InvalidArgumentError} */
function readPercent(text: string): number {
  const [, number] = /^(\d{1,3}(?:\.\d+)?) ?%?$/.exec(text) ?? [];
  if (number === undefined || Number(number) > 100)
    throw new InvalidArgumentError("It must be per cent, such as 99%.");
  return Number(number);
}

/** Parses the address of `--base-url`. @throws {InvalidArgumentError} */
function readBaseUrl(text: string): URL {
  if (!/^https?:/i.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError("It must be a URL, such as https://old.example.com.");
  return new URL(text);
}

export function addCoverage(program: Command, onExit: OnExit): void {
  addRecordFilters(addSettings(program.command("coverage"), [...REPLAY_SETTINGS, "CLIENTS_FILE"]))
    .description("Print the observed calls that a pack would serve or refuse, and the reasons. Send nothing.")
    .requiredOption(
      "--from <source>",
      "data folder, or postgres:// address of an audit store, NDJSON file of an export, HAR file of a browser or a proxy, or - for standard input",
    )
    .option("--pack <directory>", "folder of the pack (default: the current pack)")
    .addOption(new Option("--format <format>", "output format").choices(["text", "json"]).default("text"))
    .addOption(
      new Option("--by <number>", "how to rank refusals").choices(["calls", "clients"]).default("calls"),
    )
    .option(
      "--fail-below <percent>",
      "exit with 1 if fewer calls of the average client would be served, such as 99%",
      readPercent,
    )
    .option(
      "--base-url <url>",
      "only calls of a HAR file to this address, whose path is removed",
      readBaseUrl,
    )
    .option("--ignore-parameter <name...>", "query parameters that the pack may ignore")
    .addHelpText(
      "after",
      "\nCalls that the old service refused as well are not judged. Exits with 2 if no call could be judged, or too few clients for --fail-below.",
    )
    .action(async (options: CoverageFlags, command: Command) => {
      const { coverage } = await import("./coverage.ts");
      onExit(await coverage(options, commandSettings(command), command));
    });
}

export function addAudit(program: Command, onExit: OnExit): void {
  const audit = program.command("audit").description("Change the audit store.");
  addSettings(audit.command("erase"), [...STORE_SETTINGS, "CLIENTS_FILE"])
    .description("Erase the records, summaries and tokens of one client, even while a gateway runs.")
    .requiredOption(
      "--client <client>",
      "name in CLIENTS_FILE, fingerprint of a token, application:ID, or label:NAME",
    )
    .action(async (options: EraseFlags, command: Command) => {
      const { eraseClient } = await import("./erase.ts");
      onExit(await eraseClient(options, commandSettings(command), command));
    });
}
