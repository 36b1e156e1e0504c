/** The report of `alpha-gateway parity` about recorded requests. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRedaction, openSqliteKeyValueStore } from "../../../gateway/index.ts";
import type { AuditRecord, ClientDirectory } from "../../../audit/index.ts";
import { type Block, createLog, NO_METRICS } from "../../../base/index.ts";
import {
  createRecordedComparison,
  DEFAULT_RATE,
  type Example,
  openComparisons,
  outlineComparisons,
  readExample,
  type Replay,
  summarizeComparisons,
} from "../../../compare/index.ts";

/** Maximum size of a body in an example in bytes. Records have the same limit. */
const BODY_LIMIT = 262_144;

/** Formats a difference of a recorded request on one line. */
function exampleLine({ requestId, time, method, path, differences }: Example, field: string): string {
  const { old, new: other } = differences.find((each) => each.field === field) ?? {};
  const values = `${old ?? "nothing"} -> ${other ?? "nothing"}`;
  return `${time} ${method} ${path}, request ${requestId}: ${values}`;
}

/**
 * Opens a report of the differences of two packs by route, field and client. It counts in a temporary folder, so that
 * the counts of a gateway do not change.
 *
 * @param active the pack of the recording
 */
export async function openReplayParity(active: Replay, candidate: Replay, directory: ClientDirectory) {
  const folder = await mkdtemp(join(tmpdir(), "alpha-gateway-"));
  const state = openSqliteKeyValueStore({ directory: folder });
  const redaction = createRedaction(active.pack, { AUDIT_BODY_LIMIT: BODY_LIMIT });
  const comparisons = openComparisons({
    state,
    redaction: () => redaction,
    metrics: NO_METRICS,
    log: createLog("error", "json"),
  });
  const compare = createRecordedComparison(active, candidate, directory);
  return {
    async add(record: AuditRecord): Promise<void> {
      const compared = await compare(record);
      if (compared) comparisons.report(compared);
    },
    /** Returns the report about all records that were added. */
    async report(): Promise<readonly Block[]> {
      await comparisons.flush();
      const summaries = await summarizeComparisons(state, { rate: DEFAULT_RATE, pack: undefined });
      const ids = summaries.flatMap(({ routes }) =>
        routes.flatMap(({ fields }) => fields.flatMap(({ examples }) => examples)),
      );
      const examples = new Map<string, Example>();
      for (const id of new Set(ids)) {
        const example = await readExample(state, id);
        if (example) examples.set(id, example);
      }
      const exampleLines = (id: string, field: string): readonly string[] => {
        const example = examples.get(id);
        return example ? [exampleLine(example, field)] : [];
      };
      return outlineComparisons(summaries, { exampleLines, maxRoutes: Infinity, whereAll: "" });
    },
    async close(): Promise<void> {
      await comparisons.close();
      await state.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
