import { loadPack, packFolder } from "../../../pack/index.ts";
import {
  formatDiagnostic,
  OperatorFileError,
  PackError,
  plural,
  readOperatorFile,
} from "../../../base/index.ts";
import { noticesFile } from "../../../migration/index.ts";
import { reportProblems } from "./check.ts";
import type { SunsetSettings } from "../command-settings.ts";
import { openControl, readDirectory, readPlan, readRollout } from "../migration/operator-files.ts";
import { print } from "../terminal.ts";

export interface OperatorFileFlags {
  /** A plan. */
  readonly sunset?: string;
  /** A client directory. Default: that of the settings. */
  readonly clients?: string;
  /** The receivers of notices. */
  readonly notices?: string;
  /** Who gets the translation. */
  readonly rollout?: string;
  /** Whether the plan may shorten dates that were published. */
  readonly announce?: true;
}

/**
 * Runs `alpha-gateway check --sunset FILE --clients FILE --notices FILE --rollout FILE`: checks files of the operator
 * with the pack whose names they use, and with the dates that were published.
 *
 * @returns the exit code: 1 if there is a problem
 */
export async function checkOperatorFiles(
  directory: string | undefined,
  flags: OperatorFileFlags,
  settings: SunsetSettings,
): Promise<number> {
  try {
    return await readFiles(packFolder(directory ?? settings.MAPPINGS_DIR), flags, settings);
  } catch (error) {
    if (error instanceof PackError) return reportProblems(error.diagnostics);
    if (error instanceof OperatorFileError)
      return reportProblems(error.problems, (problem) => `${problem.code} ${formatDiagnostic(problem)}`);
    throw error;
  }
}

async function readFiles(
  folder: string,
  { sunset: file, clients, notices, rollout, announce }: OperatorFileFlags,
  settings: SunsetSettings,
): Promise<number> {
  const hasAudit = settings.AUDIT !== "off";
  if (notices !== undefined) {
    const { receivers } = readOperatorFile(notices, noticesFile({ hasAudit, readsSecrets: false }));
    print(`${plural(receivers.length, "receiver")}\n`);
    if (file === undefined && clients === undefined && rollout === undefined) return 0;
  }
  const pack = loadPack(folder, settings.WORDS);
  const directory = readDirectory(clients ?? settings.CLIENTS_FILE);
  print(`${plural(directory.clients.length, "client")}\n`);
  if (rollout !== undefined) {
    const { rules } = readRollout(rollout, { pack, directory });
    print(`${plural(rules.length, "rule")}\n`);
  }
  if (file === undefined) return 0;
  const { control, close } = await openControl(settings);
  try {
    const plan = readPlan(file, { pack, directory, hasAudit, control: announce ? undefined : control });
    print(`${plural(plan.stages.length, "stage")}\n`);
  } finally {
    await close();
  }
  return 0;
}
