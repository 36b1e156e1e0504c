/** The commands of pack authors: their arguments and flags. The module of a command is loaded when the command runs. */
import { Option, type Command } from "commander";
import type { CheckFlags } from "./checked-folder.ts";
import type { OperatorFileFlags } from "./check-operator-files.ts";
import {
  addSettings,
  commandSettings,
  PACK_SETTINGS,
  paritySettings,
  PROMOTE_SETTINGS,
  promoteSettings,
  STORE_SETTINGS,
  sunsetSettings,
  type OnExit,
} from "../command-settings.ts";
import type { ExplainFlags } from "./explain.ts";
import type { InitFlags } from "./init.ts";

const SCHEMA_KINDS = [
  "resource",
  "pack",
  "surface",
  "example",
  "catalogs",
  "accepted-differences",
  "sunset",
  "clients",
  "notices",
  "rollout",
] as const;

/** Flags of files of operators, which are checked in place of the pack. */
const FILE_FLAGS = ["sunset", "clients", "notices", "rollout"] as const;

const collect = (value: string, values: readonly string[] = []): readonly string[] => [...values, value];

/** Reports flags about documents that have no effect without others. */
function assertDocumentFlags({ laws, new: document, old, golden }: CheckFlags, command: Command): void {
  if (document !== undefined && !laws) command.error("error: --new needs --laws");
  if (old !== undefined && document === undefined)
    command.error("error: --old needs --new: the answers that are tried are those of the new API's document");
  if (golden && document === undefined)
    command.error("error: --golden needs --new: without the document there are no counterexamples");
}

export function addCheck(program: Command, onExit: OnExit): void {
  addSettings(program.command("check"), ["MAPPINGS_DIR", "DATA_DIR", "REDIS_URL"])
    .description("Validate a mapping pack, run its examples, and print what it covers.")
    .argument("[directory]", "folder of the pack; wins over --mappings-dir")
    .option(
      "--laws",
      "check with generated values: round trips, compiled expressions, filters by value tables, and errors",
    )
    .option("--seed <number>", "seed of the generated values (default: 1)")
    .option(
      "--new <file>",
      "with --laws: the new API's OpenAPI document; what it lets the new API answer is tried against the types of the old API",
    )
    .option("--old <file>", "with --new: the old API's OpenAPI document (default: what openapi prints)")
    .option("--golden", "with --new: write each counterexample as a golden case")
    .option("--emit", "print the JavaScript that expressions and objects compile to")
    .option(
      "--update",
      "give golden cases the actual results, after a deliberate change, and print the difference",
    )
    .addOption(
      new Option("--trace <file>", "print how the expressions of one golden case are evaluated").conflicts([
        "watch",
        "update",
        "laws",
        "emit",
        "schema",
        "format",
      ]),
    )
    .option("--sunset <file>", "check a plan by which the old API ends, as SUNSET_FILE names it")
    .option("--clients <file>", "check a client directory, as CLIENTS_FILE names it")
    .option("--notices <file>", "check the receivers of notices, as NOTICES_FILE names them")
    .option("--rollout <file>", "check who gets the translation, as ROLLOUT_FILE says it")
    .option("--announce", "with --sunset: allow dates that are earlier than those that were published")
    .addOption(
      new Option("--format <format>", "how problems are printed: text, or json for editors and programs")
        .choices(["text", "json"])
        .conflicts(["watch", "update", "emit", "schema", "sunset", "clients", "notices"]),
    )
    .addOption(new Option("--watch", "check again after each change of a file").conflicts("update"))
    .addOption(
      new Option("--schema <kind>", "print the JSON Schema of a kind of file, for editors").choices(
        SCHEMA_KINDS,
      ),
    )
    .action(
      async (directory: string | undefined, options: CheckFlags & OperatorFileFlags, command: Command) => {
        if (FILE_FLAGS.some((flag) => options[flag] !== undefined)) {
          const { checkOperatorFiles } = await import("./check-operator-files.ts");
          return onExit(await checkOperatorFiles(directory, options, sunsetSettings(command)));
        }
        assertDocumentFlags(options, command);
        const folder = directory ?? commandSettings(command).MAPPINGS_DIR;
        if (options.trace !== undefined) {
          const { traceGoldenCase } = await import("./trace.ts");
          return onExit(await traceGoldenCase(folder, options.trace, command));
        }
        const { check } = await import("./check.ts");
        return onExit(await check(folder, options, () => paritySettings(command)));
      },
    );
}

export function addInit(program: Command, onExit: OnExit): void {
  program
    .command("init")
    .description(
      "Write a mapping pack for another pair of APIs, and check it: a small one from five questions, or a draft from two OpenAPI documents.",
    )
    .argument("<directory>", "folder of the new pack; it must not exist, or be empty")
    .option("--object <name>", "what one object is called (default: book)")
    .option("--client-path <path>", "the list in the old API (default: /v1/books)")
    .option("--upstream-path <path>", "the list in the new API (default: /api/items)")
    .option("--scheme <scheme>", "scheme of the Authorization header, none without tokens (default: Bearer)")
    .option("--fields <fields>", "old=new, separated by commas (default: id,title=name)")
    .option("--old <file>", "OpenAPI document of the old API: writes a draft, with a reason for each guess")
    .option("--new <file>", "OpenAPI document of the new API")
    .option(
      "--from <source>",
      "recorded calls, by which open points are sorted: a file, -, a data folder, or a postgres:// address",
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
    .option("-d, --data <body>", "the body: JSON, or a form where clients of the pack send forms")
    .option("--trace", "print how each expression is evaluated: values, table rows and branches")
    .option("--response <file>", "with --trace: the JSON that the upstream responds, - for standard input")
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
    .argument("[directory]", "folder of the pack; wins over --mappings-dir")
    .action(async (directory: string | undefined, _options: object, command: Command) => {
      const { openapi } = await import("./openapi.ts");
      const settings = commandSettings(command);
      onExit(openapi({ ...settings, MAPPINGS_DIR: directory ?? settings.MAPPINGS_DIR }));
    });
}

export function addPromote(program: Command, onExit: OnExit): void {
  addSettings(program.command("promote"), PROMOTE_SETTINGS)
    .description("Make the candidate the active pack of all gateways of the state store, which may run.")
    .action(async (_flags: object, command: Command) => {
      const { promote } = await import("../promote.ts");
      onExit(await promote(promoteSettings(command), command));
    });
}

export function addRollback(program: Command, onExit: OnExit): void {
  addSettings(program.command("rollback"), ["DATA_DIR", "REDIS_URL"])
    .description("Take promote back: the pack of MAPPINGS_DIR is the active one again.")
    .action(async (_flags: object, command: Command) => {
      const { rollback } = await import("../promote.ts");
      onExit(await rollback(promoteSettings(command), command));
    });
}
