import type { Command } from "commander";
import {
  type ExportFormat,
  exportFormat,
  exportTexts,
  isLookedUp,
  openExistingAuditStore,
  writeExport,
} from "../../../audit/index.ts";
import { filterHeadersOf, loadPack, packFolder } from "../../../pack/index.ts";
import { plural, withClosing, type Settings } from "../../../base/index.ts";
import { showProgress } from "../progress.ts";
import { readDirectory } from "../feature-needs.ts";
import { readNamedFilters, readRecordFilters, type RecordFilters } from "./record-filters.ts";
import { eachForOutput, printError } from "../terminal.ts";

export interface ExportFlags extends RecordFilters {
  readonly format: ExportFormat;
}

/** Runs `alpha-gateway export`. Only one page of records is in memory at a time. @returns the exit code */
export async function exportRecords(
  { format, ...filters }: ExportFlags,
  settings: Settings,
  command: Command,
): Promise<number> {
  if (exportFormat(format).isCompressed && process.stdout.isTTY)
    return command.error(`error: --format ${format} is not for a terminal: write it to a file`);
  const directory = await readDirectory(settings);
  const isName = filters.client !== undefined && isLookedUp(directory, filters.client);
  // Flags are checked before the store is opened.
  readRecordFilters(isName ? { ...filters, client: "" } : filters, command);
  const filterHeaders = filterHeadersOf(loadPack(packFolder(settings.MAPPINGS_DIR), settings.WORDS));
  const damaged = await withClosing(async (keep) => {
    const store = keep(await openExistingAuditStore(settings), (each) => each.close());
    const progress = keep(showProgress("records"), (each) => each.end());
    const query = await readNamedFilters(filters, { directory, store }, command);
    const total = await store.count(query);
    let found = 0;
    const texts = exportTexts(store, {
      format,
      query,
      filterHeaders,
      onRecords: (done) => progress(done, total),
      onDamaged: (count) => (found = count),
    });
    await writeExport(eachForOutput(texts), format, process.stdout, { end: false });
    return found;
  });
  if (damaged > 0)
    printError(`AG_AUDIT_RECORD_DAMAGED: left out ${plural(damaged, "damaged record")} of the audit store\n`);
  return 0;
}
