import type { Command } from "commander";
import { isLookedUp, openExistingAuditStore, readNamedQuery, readUsageQuery } from "../../../audit/index.ts";
import { withClosing, type Settings } from "../../../base/index.ts";
import { loadPack, packFolder } from "../../../pack/index.ts";
import { createReport, FORMATS, type ReportFormat } from "../../../migration/index.ts";
import { readDirectory } from "../feature-needs.ts";
import { showProgress } from "../progress.ts";
import { assertNoProblems } from "./record-filters.ts";
import { printData } from "../terminal.ts";

export interface ReportFlags {
  readonly format: ReportFormat;
  readonly client?: string;
  readonly since?: string;
  readonly until?: string;
  readonly search?: string;
}

/** Runs `alpha-gateway report`. @returns the exit code */
export async function report(
  { format, client = "", since = "", until = "", search = "" }: ReportFlags,
  settings: Settings,
  command: Command,
): Promise<number> {
  const directory = await readDirectory(settings);
  const isName = isLookedUp(directory, client);
  // Flags are checked before the store is opened.
  assertNoProblems(readUsageQuery({ client: isName ? "" : client, since, until }).problems, command);
  const pack = loadPack(packFolder(settings.MAPPINGS_DIR), settings.WORDS);
  return withClosing(async (keep) => {
    const store = keep(await openExistingAuditStore(settings), (each) => each.close());
    const onProgress = keep(showProgress("calls"), (progress) => progress.end());
    const given = { client, since, until, search };
    const { query, problems } = await readNamedQuery(given, readUsageQuery, { directory, store });
    assertNoProblems(problems, command);
    const { QUIET_DAYS: quietDays } = settings;
    const options = { store, pack, query, now: Date.now(), quietDays, directory, onProgress };
    printData(FORMATS[format].write(await createReport(options)));
    return 0;
  });
}
