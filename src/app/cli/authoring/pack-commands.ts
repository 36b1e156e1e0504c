/**
 * The commands of pack authors other than `check`: their arguments and flags. The module of a command is loaded when
 * the command runs.
 */
import type { Command } from "commander";
import {
  addSettings,
  commandSettings,
  PACK_SETTINGS,
  STORE_SETTINGS,
  type OnExit,
} from "../command-settings.ts";
import type { ExplainFlags } from "./explain.ts";
import type { InitFlags } from "./init.ts";

const collect = (value: string, values: readonly string[] = []): readonly string[] => [...values, value];

export function addInit(program: Command, onExit: OnExit): void {
  program
    .command("init")
    .description(
      "Write a mapping pack for another pair of APIs, and check it: a small one from five questions, or a draft from two OpenAPI documents.",
    )
    .argument("<directory>", "folder of the new pack; it must not exist, or be empty")
    .option("--object <name>", "name of one object (default: book)")
    .option("--client-path <path>", "the list in the old API (default: /v1/books)")
    .option("--upstream-path <path>", "the list in the new API (default: /api/items)")
    .option("--scheme <scheme>", "scheme of the Authorization header, none without tokens (default: Bearer)")
    .option("--fields <fields>", "old=new, separated by commas (default: id,title=name)")
    .option("--old <file>", "OpenAPI document of the old API: writes a draft")
    .option("--new <file>", "OpenAPI document of the new API")
    .option(
      "--from <source>",
      "recorded calls by which the open points are sorted: a file, -, a data folder, or a postgres:// address",
    )
    .action(async (directory: string, options: InitFlags, command: Command) => {
      const { init } = await import("./init.ts");
      onExit(await init(directory, options, command));
    });
}

export function addExplain(program: Command, onExit: OnExit): void {
  addSettings(program.command("explain"), [...PACK_SETTINGS, ...STORE_SETTINGS])
    .description(
      "Print the upstream calls for a client's request as curl commands, and the losses. Send nothing.",
    )
    .argument(
      "<request>",
      "the request in quotes, for example 'GET /vm/instances?page=2'; with --trace also the id of a record, or - for a record on standard input",
    )
    .option("-H, --header <line>", "a header, 'Name: value'; can be repeated", collect)
    .option("-d, --data <body>", "the body: JSON, or a form if clients of the pack send forms")
    .option("--trace", "print how each expression is evaluated: values, table rows and branches")
    .option("--response <file>", "with --trace: the JSON response of the upstream, - for standard input")
    .addHelpText(
      "after",
      "\nTo run the commands, set TOKEN to a token of the upstream, and the variable before the path, such as V4, to its address.",
    )
    .action(async (request: string, options: ExplainFlags, command: Command) => {
      if (options.trace) {
        const { traceRequest } = await import("./trace.ts");
        return onExit(await traceRequest(request, options, commandSettings(command), command));
      }
      const { explain } = await import("./explain.ts");
      return onExit(await explain(request, options, commandSettings(command), command));
    });
}

export function addOpenapi(program: Command, onExit: OnExit): void {
  addSettings(program.command("openapi"), PACK_SETTINGS)
    .description("Print an OpenAPI 3.1 description of the API that clients use, as JSON.")
    .argument("[directory]", "folder of the pack, in place of --mappings-dir")
    .action(async (directory: string | undefined, _options: object, command: Command) => {
      const { openapi } = await import("./openapi.ts");
      const settings = commandSettings(command);
      onExit(openapi({ ...settings, MAPPINGS_DIR: directory ?? settings.MAPPINGS_DIR }));
    });
}
