import type { Command } from "commander";
import { loadPack, packFolder } from "../../../pack/index.ts";
import type { AuditRecord } from "../../../audit/index.ts";
import { toVisibleLine } from "../../../base/index.ts";
import {
  createReplaySummary,
  matchesQuery,
  readRecords,
  Replay,
  type ReplayDifference,
  type ReplaySummary,
} from "../../../compare/index.ts";
import { readExamples } from "../../../authoring/index.ts";
import type { CommandSettings } from "../command-settings.ts";
import { showProgress } from "../progress.ts";
import { openSource } from "./record-source.ts";
import { readRecordFilters, type RecordFilters } from "../migration/record-filters.ts";
import { readDirectory } from "../migration/operator-files.ts";
import { openReplayParity } from "./replay-parity.ts";
import { print } from "../terminal.ts";

export interface ReplayFlags extends RecordFilters {
  /** File, `-` for standard input, folder, or address of an audit store. */
  readonly from: string;
  /** Folder of a pack. */
  readonly pack?: string;
  /** Whether to print the report of `parity`, too. */
  readonly parity?: true;
}

const formatDifference = ({ what, was, is }: ReplayDifference): string =>
  `  ${toVisibleLine(`${what}: ${was ?? "nothing"} -> ${is ?? "nothing"}`)}\n`;

/** The exit code where no record could be compared: a gate must not pass. */
const NOTHING_COMPARED = 2;

/** Differences that are printed for one record. */
const MAX_DIFFERENCES = 20;

function formatChange({ id, time, alpha }: AuditRecord, differences: readonly ReplayDifference[]): string {
  const query = alpha.query === "" ? "" : `?${alpha.query}`;
  const moreCount = differences.length - MAX_DIFFERENCES;
  return [
    `${toVisibleLine(`${time} ${id} ${alpha.method} ${alpha.path}${query}`)}\n`,
    ...differences.slice(0, MAX_DIFFERENCES).map(formatDifference),
    ...(moreCount > 0 ? [`  and ${moreCount} more\n`] : []),
    "\n",
  ].join("");
}

function formatSummary(summary: ReplaySummary): string {
  const { same, exact, changed, inconclusive } = summary.counts;
  const list = (counts: readonly (readonly [string, number])[]): string =>
    counts.map(([what, count]) => `  ${count} ${toVisibleLine(what)}\n`).join("");
  return (
    `${same} the same${exact > 0 ? ` (${exact} byte for byte)` : ""}, ${changed} changed, ${inconclusive} inconclusive\n` +
    (changed > 0 ? `changed:\n${list(summary.changes())}` : "") +
    (summary.uncompared().length > 0
      ? `the same, without these entries of catalogs, which were not compared:\n${list(summary.uncompared())}`
      : "") +
    (inconclusive > 0 ? `inconclusive:\n${list(summary.reasons())}` : "") +
    (same + changed === 0 ? "nothing was compared\n" : "")
  );
}

/**
 * Runs `alpha-gateway replay`.
 *
 * @returns the exit code: 1 if something would change, 2 if nothing could be compared
 * @throws {InvalidExportError}
 */
export async function replay(
  { from, pack, parity: wantsParity, ...filters }: ReplayFlags,
  { MAPPINGS_DIR, WORDS, PUBLIC_URL: publicUrl, CLIENTS_FILE }: CommandSettings,
  command: Command,
): Promise<number> {
  if (wantsParity && pack === undefined)
    return command.error("error: --parity compares two packs: name the other one with --pack");
  const query = readRecordFilters(filters, command);
  const folder = packFolder(MAPPINGS_DIR);
  const options = { publicUrl, catalogs: readExamples(folder, []).catalogs };
  const control = new Replay(loadPack(folder, WORDS), options);
  const candidate =
    pack === undefined ? control : new Replay(loadPack(packFolder(pack), WORDS), { ...options, control });
  const parity = wantsParity
    ? await openReplayParity(control, candidate, readDirectory(CLIENTS_FILE))
    : undefined;
  const { count, chunks, close } = await openSource(from, query).catch(async (error: unknown) => {
    await parity?.close();
    throw error;
  });
  const summary = createReplaySummary();
  const progress = showProgress("records");
  let done = 0;
  try {
    for await (const record of readRecords(chunks)) {
      progress((done += 1), count);
      if (!matchesQuery(record, query)) continue;
      const result = await candidate.run(record);
      if (summary.add(record, result) && result.kind === "changed")
        print(formatChange(record, result.differences));
      await parity?.add(record);
    }
  } catch (error) {
    await parity?.close();
    throw error;
  } finally {
    progress.end();
    await close();
  }
  print(formatSummary(summary));
  try {
    if (parity) print(`\n${await parity.report()}`);
  } finally {
    await parity?.close();
  }
  const { changed, same } = summary.counts;
  if (changed > 0) return 1;
  return same > 0 ? 0 : NOTHING_COMPARED;
}
