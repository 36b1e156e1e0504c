/** The command `check`: its arguments and flags. The module that does the work is loaded when the command runs. */
import { Option, type Command } from "commander";
import type { CheckFlags } from "./checked-folder.ts";
import { STATE_SETTINGS } from "../../../../base/index.ts";
import { FILE_FEATURES } from "../../features.ts";
import { addSettings, commandSettings, PACK_SETTINGS, type OnExit } from "../../command-settings.ts";

/** Flags for files of operators, which are checked instead of the pack. */
const FILE_FLAGS = FILE_FEATURES.map(({ name }) => name);

const SCHEMA_KINDS = [
  "resource",
  "pack",
  "surface",
  "example",
  "catalogs",
  "accepted-differences",
  ...FILE_FLAGS,
];

interface FileFlags {
  /** Whether a plan may shorten published dates. */
  readonly announce?: true;
}

/** Reports flags about documents that have no effect because other flags are missing. */
function assertDocumentFlags({ laws, new: document, old, golden }: CheckFlags, command: Command): void {
  if (document !== undefined && !laws) command.error("error: --new needs --laws");
  if (old !== undefined && document === undefined)
    command.error("error: --old needs --new: the answers that are tried are those of the new API's document");
  if (golden && document === undefined)
    command.error("error: --golden needs --new: without the document there are no counterexamples");
}

export function addCheck(program: Command, onExit: OnExit): void {
  const check = addSettings(program.command("check"), ["MAPPINGS_DIR", ...STATE_SETTINGS])
    .description("Validate a mapping pack, run its examples, and print its coverage.")
    .argument("[directory]", "folder of the pack, in place of --mappings-dir")
    .option("--laws", "also check with generated values")
    .option("--seed <number>", "seed of the generated values (default: 1)")
    .option("--new <file>", "with --laws: the new API's OpenAPI document; also check the types of fields")
    .option("--old <file>", "with --new: the old API's OpenAPI document (default: what openapi prints)")
    .option("--golden", "with --new: write each counterexample as a golden case")
    .option("--emit", "print the JavaScript that expressions and objects compile to")
    .option("--update", "write the actual results into golden cases, and print the difference")
    .addOption(
      new Option("--trace <file>", "print how the expressions of one golden case are evaluated").conflicts([
        "watch",
        "update",
        "laws",
        "emit",
        "schema",
        "format",
      ]),
    );
  for (const { name, file } of FILE_FEATURES) check.option(`--${name} <file>`, file);
  check
    .option("--announce", "with a plan: allow dates that are earlier than the published dates")
    .addOption(
      new Option("--format <format>", "format of the problems")
        .choices(["text", "json"])
        .conflicts(["watch", "update", "emit", "schema", ...FILE_FLAGS]),
    )
    .addOption(new Option("--watch", "check again after each change of a file").conflicts("update"))
    .addOption(
      new Option("--schema <kind>", "print the JSON Schema of a kind of file, for editors").choices(
        SCHEMA_KINDS,
      ),
    )
    .action(async (directory: string | undefined, options: CheckFlags & FileFlags, command: Command) => {
      const given = command.opts<Readonly<Record<string, string>>>();
      const files = Object.fromEntries(
        FILE_FLAGS.flatMap((name) => (given[name] ? [[name, given[name]]] : [])),
      );
      if (Object.keys(files).length > 0) {
        const { checkOperatorFiles } = await import("./check-operator-files.ts");
        const settings = commandSettings(command, [...PACK_SETTINGS, "CLIENTS_FILE", "AUDIT"]);
        return onExit(await checkOperatorFiles(directory, files, options.announce ?? false, settings));
      }
      assertDocumentFlags(options, command);
      const folder = directory ?? commandSettings(command).MAPPINGS_DIR;
      if (options.trace !== undefined) {
        const { traceGoldenCase } = await import("../trace.ts");
        return onExit(await traceGoldenCase(folder, options.trace, command));
      }
      const { check: run } = await import("./check.ts");
      return onExit(await run(folder, options, () => commandSettings(command, [])));
    });
}
