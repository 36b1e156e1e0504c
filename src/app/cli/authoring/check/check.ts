import { existsSync } from "node:fs";
import { type FileKind, fileSchema, type Pack, packFolder } from "../../../../pack/index.ts";
import { operatorFileSchema } from "../../../../base/index.ts";
import type { Expression } from "../../../../jsonata/index.ts";
import { catalogsSchema, exampleSchema } from "../../../../authoring/index.ts";
import { loadFileFeatures } from "../../features.ts";
import { print, printBlocks } from "../../terminal.ts";
import { checkChanges } from "./check-changes.ts";
import { type CheckFlags, readFolder } from "./checked-folder.ts";
import { outlinePack } from "./outline-pack.ts";
import { reportInvalid, reportProblems } from "../report-problems.ts";
import { type FindState, warnOfUnusedLines } from "./unused-lines.ts";

async function schemaOf(kind: string): Promise<unknown> {
  if (kind === "example") return exampleSchema();
  const { schema } = (await loadFileFeatures()).find(({ name }) => name === kind) ?? {};
  if (schema) return operatorFileSchema(schema);
  return kind === "catalogs" ? catalogsSchema() : fileSchema(kind as FileKind);
}

/** Prints the code of each expression under its source. Identical expressions are only printed once. */
function printExpressions(expressions: readonly Expression[]): string {
  const codes = new Map(expressions.map(({ source, code }) => [source.trim(), code ?? "// interpreted"]));
  return [...codes].map(([source, code]) => `${source.replaceAll(/^/gm, "// ")}\n${code}\n\n`).join("");
}

/** Prints the code of each object under its name. */
const printObjects = (resources: Pack["resources"]): string =>
  [...resources.values()].map(({ name, code }) => `// ${name}\n${code()}\n\n`).join("");

async function checkFolder(directory: string, flags: CheckFlags, state?: FindState): Promise<number> {
  const { emit, update, laws } = flags;
  const checked = await readFolder(directory, update);
  const { pack, expressions, problems } = checked;
  if (problems.length > 0) return reportProblems(problems);
  if (emit) print(printExpressions(expressions) + printObjects(pack.resources));
  printBlocks(outlinePack(directory, checked));
  await warnOfUnusedLines(directory, pack, state);
  if (!laws) return 0;
  const { checkPackLaws } = await import("./check-laws.ts");
  return checkPackLaws(directory, flags, checked);
}

/**
 * Runs `alpha-gateway check`.
 *
 * @param directory the folder of the pack; undefined: the default folder
 * @param state reads the location of a gateway's state; called for packs that accept differences. Default: there is no
 *   gateway
 * @returns the exit code: 1 if there is a problem
 */
export async function check(
  directory: string | undefined,
  flags: CheckFlags,
  state?: FindState,
): Promise<number> {
  const { schema, watch, format } = flags;
  if (schema !== undefined) {
    print(`${JSON.stringify(await schemaOf(schema), null, 2)}\n`);
    return 0;
  }
  const folder = packFolder(directory);
  if (format === "json") {
    const { printCheck } = await import("./check-json.ts");
    return printCheck(folder, flags);
  }
  const once = (): Promise<number> => reportInvalid(() => checkFolder(folder, flags, state));
  return watch && existsSync(folder) ? checkChanges(folder, once) : once();
}
