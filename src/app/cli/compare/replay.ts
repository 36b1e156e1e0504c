import type { Command } from "commander";
import { loadPack, packFolder } from "../../../pack/index.ts";
import type { AuditRecord } from "../../../audit/index.ts";
import {
  type Block,
  formatCount,
  formatSecondUtc,
  type Item,
  withClosing,
  type Settings,
} from "../../../base/index.ts";
import {
  createRecordedParity,
  createReplaySummary,
  describeDifference,
  matchesQuery,
  readRecords,
  Replay,
  type ReplayDifference,
  type ReplaySummary,
} from "../../../compare/index.ts";
import { readExamples } from "../../../authoring/index.ts";
import { showProgress } from "../progress.ts";
import { openSource } from "./record-source.ts";
import { readRecordFilters, type RecordFilters } from "../migration/record-filters.ts";
import { readDirectory } from "../feature-needs.ts";
import { print, printBlocks } from "../terminal.ts";

export interface ReplayFlags extends RecordFilters {
  /** The source: a file, `-` for standard input, a folder, or the address of an audit store. */
  readonly from: string;
  /** The folder of a pack. */
  readonly pack?: string;
  /** Whether to also print the report of `parity`. */
  readonly parity?: true;
}

/** The exit code if no record could be compared, because a gate must not pass in that case. */
const NOTHING_COMPARED = 2;

/** Maximum number of differences that are printed for one record. */
const MAX_DIFFERENCES = 20;

function outlineChange({ id, time, alpha }: AuditRecord, differences: readonly ReplayDifference[]): Block[] {
  const query = alpha.query === "" ? "" : `?${alpha.query}`;
  const moreCount = differences.length - MAX_DIFFERENCES;
  return [
    {
      kind: "list",
      items: [
        {
          line: `${formatSecondUtc(time)} ${id} ${alpha.method} ${alpha.path}${query}`,
          items: [
            ...differences.slice(0, MAX_DIFFERENCES).map(describeDifference),
            ...(moreCount > 0 ? [`and ${formatCount(moreCount)} more`] : []),
          ],
        },
      ],
    },
  ];
}

function outlineSummary(summary: ReplaySummary): Block[] {
  const { same, exact, changed, inconclusive } = summary.counts;
  const listed = (line: string, counts: readonly (readonly [string, number])[]): Item => ({
    line,
    items: counts.map(([what, count]) => `${formatCount(count)} ${what}`),
  });
  const exactly = exact > 0 ? ` (${formatCount(exact)} byte for byte)` : "";
  const [uncompared, rules] = [summary.uncompared(), summary.rules()];
  const items: Item[] = [
    `${formatCount(same)} the same${exactly}, ${formatCount(changed)} changed, ${formatCount(inconclusive)} inconclusive`,
    ...(changed > 0 ? [listed("changed:", summary.changes())] : []),
    ...(uncompared.length > 0
      ? [listed("the same, without these entries of catalogs, which were not compared:", uncompared)]
      : []),
    ...(inconclusive > 0 ? [listed("inconclusive:", summary.reasons())] : []),
    ...(rules.length > 0
      ? [listed("rules of the packs that differ, in records that depend on them:", rules)]
      : []),
    ...(same + changed === 0 ? ["nothing was compared"] : []),
  ];
  return [{ kind: "list", items }];
}

/**
 * Runs `alpha-gateway replay`.
 *
 * @returns the exit code: 1 if something would change, 2 if nothing could be compared
 * @throws {InvalidExportError}
 */
export async function replay(
  { from, pack, parity: wantsParity, ...filters }: ReplayFlags,
  settings: Settings,
  command: Command,
): Promise<number> {
  if (wantsParity && pack === undefined)
    return command.error("error: --parity compares two packs: name the other one with --pack");
  const query = readRecordFilters(filters, command);
  const { MAPPINGS_DIR, WORDS, PUBLIC_URL: publicUrl } = settings;
  const folder = packFolder(MAPPINGS_DIR);
  const options = { publicUrl, catalogs: readExamples(folder, []).catalogs };
  const control = new Replay(loadPack(folder, WORDS), options);
  const candidate =
    pack === undefined ? control : new Replay(loadPack(packFolder(pack), WORDS), { ...options, control });
  const summary = createReplaySummary();
  await withClosing(async (keep) => {
    const parity = wantsParity
      ? createRecordedParity(control, candidate, await readDirectory(settings))
      : undefined;
    const { count, chunks } = keep(await openSource(from, query), ({ close }) => close());
    const progress = keep(showProgress("records"), ({ end }) => end());
    let done = 0;
    for await (const record of readRecords(chunks)) {
      progress((done += 1), count);
      if (!matchesQuery(record, query)) continue;
      const result = await candidate.run(record);
      if (summary.add(record, result) && result.kind === "changed") {
        printBlocks(outlineChange(record, result.differences));
        print("\n");
      }
      await parity?.add(record);
    }
    progress.end();
    printBlocks([...outlineSummary(summary), ...(parity?.report() ?? [])]);
  });
  const { changed, same } = summary.counts;
  if (changed > 0 || summary.rules().length > 0) return 1;
  return same > 0 ? 0 : NOTHING_COMPARED;
}
