import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  fileSchema,
  loadPack,
  type Pack,
  packFolder,
  type PackSummary,
  summarizePack,
} from "../../../pack/index.ts";
import { openExistingState, type StateSettings } from "../../../gateway/index.ts";
import { findUnusedLines } from "../../../compare/index.ts";
import {
  type Diagnostic,
  errorText,
  formatDiagnostic,
  formatDiagnosticLine,
  type KeyValueStore,
  MAX_DIAGNOSTICS,
  operatorFileSchema,
  PackError,
  plural,
} from "../../../base/index.ts";
import { collectExpressions, type Expression } from "../../../jsonata/index.ts";
import {
  catalogsSchema,
  compareExamples,
  coverageOf,
  diagnosticsOf,
  type ExampleResult,
  EXAMPLES_FOLDER,
  exampleSchema,
  findLeftOutRows,
  findUnknownLists,
  readExamples,
  updateExamples,
} from "../../../authoring/index.ts";
import { NOTICES_SCHEMA, ROLLOUT_SCHEMA, SUNSET_SCHEMA } from "../../../migration/index.ts";
import { CLIENTS_FILE } from "../../../audit/index.ts";
import { describeSurface } from "./describe-surface.ts";
import { waitForShutdownSignal } from "../signals.ts";
import { watchFolder } from "./watch-folder.ts";
import { clearScreen, print } from "../terminal.ts";
import type { SchemaKind, CheckedFolder, CheckFlags } from "./checked-folder.ts";

/** Reads where a gateway has its state. */
type FindState = () => StateSettings;

function schemaOf(kind: SchemaKind): unknown {
  if (kind === "example") return exampleSchema();
  if (kind === "sunset") return operatorFileSchema(SUNSET_SCHEMA);
  if (kind === "rollout") return operatorFileSchema(ROLLOUT_SCHEMA);
  if (kind === "notices") return operatorFileSchema(NOTICES_SCHEMA);
  if (kind === "clients") return operatorFileSchema(CLIENTS_FILE.schema);
  return kind === "catalogs" ? catalogsSchema() : fileSchema(kind);
}

/** The code of each expression under its source. The same expression is printed once. */
function printExpressions(expressions: readonly Expression[]): string {
  const codes = new Map(expressions.map(({ source, code }) => [source.trim(), code ?? "// interpreted"]));
  return [...codes].map(([source, code]) => `${source.replaceAll(/^/gm, "// ")}\n${code}\n\n`).join("");
}

/** The code of each object under its name. */
const printObjects = (resources: Pack["resources"]): string =>
  [...resources.values()].map(({ name, code }) => `// ${name}\n${code()}\n\n`).join("");

/** Which functions of an expression the package `jsonata` runs, or why it runs all of it; undefined if it runs nothing. */
function describeInterpreted({ source, engine, fallback, libraryCalls = new Set() }: Expression) {
  if (engine === "interpreted") return `  interpreted: ${source.trim()} (${fallback})`;
  const names = [...libraryCalls].map((name) => `$${name}`).join(", ");
  return names === "" ? undefined : `  partly interpreted: ${source.trim()} (${names})`;
}

/** How many expressions run as JavaScript, and each that does not, or not alone. */
function describeEngines(expressions: readonly Expression[]): string[] {
  const interpreted = expressions.filter(({ engine }) => engine === "interpreted").length;
  const lines = expressions.map(describeInterpreted).filter((line) => line !== undefined);
  return [
    `expressions compiled ${expressions.length - interpreted}, interpreted ${interpreted}`,
    ...new Set(lines.sort()),
  ];
}

/** The routes that have no upstream call, each with its response. */
function describeLocalRoutes(routes: PackSummary["routes"], upstream: string): string[] {
  const local = routes.filter(({ alone: response }) => response !== null);
  if (local.length === 0) return [];
  const width = Math.max(...local.map(({ alpha }) => alpha.length));
  const lines = local.map(({ alpha, alone: response }) => `  ${alpha.padEnd(width)}  ${response}`);
  return [`routes without a ${upstream} call ${local.length}:`, ...lines];
}

/** How many query parameters the pack names, and what happens to the others. */
function describeQueries({ routes }: Pack): string {
  const names = new Set(routes.flatMap(({ query }) => query.parameters.map(({ name }) => name)));
  const rejecting = routes.filter(({ query }) => query.rejectsUnknown).length;
  const others =
    rejecting === 0 || rejecting === routes.length
      ? `others are ${rejecting === 0 ? "ignored" : "rejected"}`
      : `others are rejected by ${plural(rejecting, "route")} and ignored by ${routes.length - rejecting}`;
  return `query parameters ${names.size}, ${others}`;
}

/** What the golden cases show, and the names that none shows; only that there are none for a pack that is shipped without. */
function describeExamples(directory: string, pack: Pack, results: readonly ExampleResult[]): string[] {
  if (!existsSync(join(directory, EXAMPLES_FOLDER)))
    return [`golden cases: none, because the pack has no folder "${EXAMPLES_FOLDER}"`];
  const { routes, fields, missingRoutes, missingFields } = coverageOf(pack, results);
  const missing = [...missingRoutes, ...missingFields];
  return [
    `golden cases: ${routes - missingRoutes.length} of ${routes} routes, ${fields - missingFields.length} of ${fields} fields`,
    ...(missing.length > 0 ? [`  without a golden case: ${missing.join(", ")}`] : []),
    `${plural(results.length, "example")} passed`,
  ];
}

function describeCoverage(
  directory: string,
  pack: Pack,
  results: readonly ExampleResult[],
  expressions: readonly Expression[],
): string {
  const { routes, objects, classes } = summarizePack(pack);
  const fields = objects.reduce((sum, object) => sum + object.fields.length, 0);
  const counts = Object.entries(classes).map(([name, count]) => `${name} ${count}`);
  return [
    [plural(routes.length, "route"), plural(objects.length, "object"), plural(fields, "field")].join(", "),
    `fields by class: ${counts.join(", ")}`,
    ...describeSurface(pack),
    describeQueries(pack),
    ...describeLocalRoutes(routes, pack.dialect.upstream.name),
    ...describeEngines(expressions),
    ...describeExamples(directory, pack, results),
    "",
  ].join("\n");
}

/** Prints problems. @param format Writes one. @returns the exit code */
export function reportProblems<T extends Diagnostic>(
  diagnostics: readonly T[],
  format: (problem: T) => string = formatDiagnostic,
): number {
  const first = diagnostics.slice(0, MAX_DIAGNOSTICS);
  const more = first.length < MAX_DIAGNOSTICS ? "" : ": correct these to see others";
  const count = `${plural(first.length, "problem")}${more}`;
  print(`${first.map((problem) => format(problem)).join("\n")}\n${count}\n`);
  return 1;
}

/** Gives golden cases the actual results, and prints what changed in their files. */
async function updateGoldenCases(directory: string, pack: Pack): Promise<void> {
  const { examples, catalogs } = readExamples(directory, []);
  const updated = updateExamples(await compareExamples(pack, examples, catalogs));
  for (const { file, difference } of updated) print(`${file}\n${difference}\n\n`);
  print(`${plural(updated.length, "example")} updated\n`);
}

/** Warns of lines of accepted differences that accept nothing. A state store that can't be read fails no check. */
async function warnOfUnusedLines(directory: string, pack: Pack, state: FindState | undefined): Promise<void> {
  if (!state || pack.acceptedDifferences.length === 0) return;
  let store: KeyValueStore | undefined;
  try {
    store = await openExistingState(state());
    const unused = await findUnusedLines(directory, pack, store, Date.now());
    for (const diagnostic of unused) print(`warning: ${formatDiagnosticLine(diagnostic)}\n`);
  } catch (error) {
    print(`warning: it is unknown which accepted differences are used: ${errorText(error)}\n`);
  } finally {
    await store?.close();
  }
}

/** Loads a pack and runs its golden cases. @throws {PackError} If it is invalid. */
async function readFolder(directory: string, update = false): Promise<CheckedFolder> {
  const { result: pack, expressions } = collectExpressions(() => loadPack(directory));
  if (update) await updateGoldenCases(directory, pack);
  const diagnostics: Diagnostic[] = Object.values(pack.gaps()).flat();
  const read = readExamples(directory, diagnostics);
  const { examples, catalogs } = read;
  diagnostics.push(...findUnknownLists(pack, read));
  diagnostics.push(...(await findLeftOutRows(pack, directory, examples, catalogs)));
  const results = await compareExamples(pack, examples, catalogs);
  diagnostics.push(...diagnosticsOf(results));
  return { pack, expressions, results, problems: diagnostics };
}

async function checkFolder(directory: string, flags: CheckFlags, state?: FindState): Promise<number> {
  const { emit, update, laws } = flags;
  const checked = await readFolder(directory, update);
  const { pack, expressions, results, problems } = checked;
  if (problems.length > 0) return reportProblems(problems);
  if (emit) print(printExpressions(expressions) + printObjects(pack.resources));
  print(describeCoverage(directory, pack, results, expressions));
  await warnOfUnusedLines(directory, pack, state);
  if (!laws) return 0;
  const { checkPackLaws } = await import("./check-laws.ts");
  return checkPackLaws(directory, flags, checked);
}

/** Checks a pack once. @returns the exit code */
async function checkOnce(
  directory: string,
  flags: CheckFlags,
  state: FindState | undefined,
): Promise<number> {
  try {
    return await checkFolder(directory, flags, state);
  } catch (error) {
    if (error instanceof PackError) return reportProblems(error.diagnostics);
    throw error;
  }
}

/** Checks a pack after each change of its files, until a signal ends the process. */
async function checkChanges(
  directory: string,
  flags: CheckFlags,
  state: FindState | undefined,
): Promise<number> {
  let isRunning = false;
  let hasChanged = false;
  async function run(): Promise<void> {
    hasChanged = true;
    if (isRunning) return;
    isRunning = true;
    while (hasChanged) {
      hasChanged = false;
      clearScreen();
      await checkOnce(directory, flags, state);
      print(`Watching ${directory}. Ctrl+C ends.\n`);
    }
    isRunning = false;
  }
  const shutdown = waitForShutdownSignal();
  const unwatch = watchFolder(directory, () => void run(), { recursive: true, persistent: true });
  await run();
  await shutdown;
  unwatch();
  return 0;
}

/**
 * Runs `alpha-gateway check`.
 *
 * @param directory the folder of the pack; undefined: the default folder
 * @param state reads where a gateway has its state; called for packs that accept differences. Default: nothing is known of its comparisons
 * @returns the exit code: 1 if there is a problem
 */
export async function check(
  directory: string | undefined,
  flags: CheckFlags,
  state?: FindState,
): Promise<number> {
  const { schema, watch, format } = flags;
  if (schema !== undefined) {
    const jsonSchema = schemaOf(schema);
    print(`${JSON.stringify(jsonSchema, null, 2)}\n`);
    return 0;
  }
  const folder = packFolder(directory);
  if (format === "json") {
    const { printCheck } = await import("./check-json.ts");
    return printCheck(folder, flags, readFolder);
  }
  return watch && existsSync(folder) ? checkChanges(folder, flags, state) : checkOnce(folder, flags, state);
}
