/** `explain --trace` and `check --trace`: how the expressions of a pack are evaluated for one request. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { isSuccess, loadPack, type Pack, packFolder } from "../../../pack/index.ts";
import type { Diagnostic, Settings } from "../../../base/index.ts";
import {
  diagnosticsOf,
  formatTrace,
  isCall,
  readExamples,
  splitCall,
  type Trace,
  traceCall,
  traceExample,
  traceRecord,
} from "../../../authoring/index.ts";
import { reportInvalid, reportProblems } from "./report-problems.ts";
import { createEmptyV4 } from "./empty-upstream.ts";
import type { ExplainFlags } from "./explain.ts";
import { readRecord, readRequest, readResponse } from "./read-request.ts";
import { print } from "../terminal.ts";

/** Reads the catalogs of the golden cases of a pack. */
const catalogsOf = (folder: string) => readExamples(folder, []).catalogs;

/**
 * Runs `alpha-gateway explain --trace`.
 *
 * @param subject a request, `GET /vm/instances?page=2`, the id of a record, or `-`
 * @returns the exit code: 1 if the gateway rejects the request
 * @throws {PackError}
 */
export async function traceRequest(
  subject: string,
  flags: ExplainFlags,
  settings: Settings,
  command: Command,
): Promise<number> {
  const folder = packFolder(settings.MAPPINGS_DIR);
  const load = (): Pack => loadPack(folder, settings.WORDS);
  if (isCall(subject)) {
    const response = await readResponse(flags.response, command);
    const trace = await traceCall(
      (pack) => readRequest(subject, flags, pack, command),
      (pack) => createEmptyV4(pack, splitCall(subject, pack.dialect.client.base_path), [], response),
      load,
      catalogsOf(folder),
    );
    return printTrace(trace);
  }
  if (flags.response !== undefined || flags.header || flags.data !== undefined)
    command.error("error: -H, -d and --response belong to a request, not to a record");
  const record = await readRecord(subject, settings, command);
  printTrace(await traceRecord(record, load, { catalogs: catalogsOf(folder) }));
  return 0;
}

function printTrace(trace: Trace): number {
  print(formatTrace(trace));
  return isSuccess(trace.status) ? 0 : 1;
}

/**
 * Runs `alpha-gateway check --trace`.
 *
 * @param file the golden case
 * @returns the exit code: 1 if the golden case differs
 */
export async function traceGoldenCase(
  directory: string | undefined,
  file: string,
  command: Command,
): Promise<number> {
  const folder = packFolder(directory);
  const problems: Diagnostic[] = [];
  const { examples, catalogs } = readExamples(folder, problems);
  const wanted = resolve(file);
  const own = problems.filter((problem) => resolve(problem.file) === wanted);
  if (own.length > 0) return reportProblems(own);
  const example = examples.find(({ source }) => resolve(source.file) === wanted);
  if (!example) return command.error(`error: ${file} is no golden case of the pack in ${folder}`);
  return reportInvalid(async () => {
    const { trace, result } = await traceExample(example, () => loadPack(folder), catalogs);
    printTrace(trace);
    const differences = diagnosticsOf([result]);
    return differences.length > 0 ? reportProblems(differences) : 0;
  });
}
