/** Compares the responses of two packs to recorded requests, for the report of `replay --parity`. */
import { ClientRoom } from "../answers/client-room.ts";
import { type AuditRecord, type ClientDirectory, createRecordIds } from "../../audit/index.ts";
import { type Block, formatSecondUtc } from "../../base/index.ts";
import { createRedaction } from "../../gateway/index.ts";
import type { Compared } from "../answers/comparison.ts";
import { createPackComparison, senderOf } from "../candidate/candidate-answer.ts";
import { createCounts, GrowingCounts } from "../counts/add-counts.ts";
import type { Example } from "../counts/example.ts";
import { DEFAULT_RATE, summarize } from "../counts/summary.ts";
import { findObstacle } from "../replay/obstacles.ts";
import type { Replay } from "../replay/replay-record.ts";
import { outlineComparisons } from "./outline-comparisons.ts";

/** Maximum size of a body in an example in bytes. Records have the same limit. */
const BODY_LIMIT = 262_144;

/** Formats a difference of a recorded request on one line. */
function exampleLine({ requestId, time, method, path, differences }: Example, field: string): string {
  const { old, new: other } = differences.find((each) => each.field === field) ?? {};
  const values = `${old ?? "nothing"} -> ${other ?? "nothing"}`;
  return `${formatSecondUtc(time)}, ${method} ${path}, request ${requestId}: ${values}`;
}

/** Creates the comparison of a record. It returns undefined if the record lacks data for a comparison. Never rejects. */
function createRecordedComparison(active: Replay, candidate: Replay, directory: ClientDirectory) {
  const compare = createPackComparison(candidate.pack, candidate);
  const subject = `${active.pack.hash} ${candidate.pack.hash}`;

  return async function compareRecorded(record: AuditRecord): Promise<Compared | undefined> {
    const { alpha, client, requestId } = record;
    const route = alpha.route === null ? undefined : active.pack.route(alpha.route);
    if (!route || findObstacle(record, active.pack) !== undefined) return undefined;
    const old = await active.respond(record);
    if (old instanceof Error) return undefined;
    const finding = await compare({ pack: active.pack, route }, old.exchange);
    const { fingerprint, application, label, userAgent } = client;
    const identity = {
      label,
      application,
      fingerprint: fingerprint ?? undefined,
      userAgent: userAgent ?? undefined,
    };
    const sender = senderOf(identity, client.address, active.pack, directory);
    return { subject, route: route.name, ...sender, time: Date.parse(record.time), requestId, ...finding };
  };
}

/**
 * Creates a report of the differences of two packs by route, field and client. Both packs process each record, so data
 * that it lacks, such as secrets, is missing in both results. The counts of a gateway do not change.
 *
 * @param active the pack of the recording
 */
export function createRecordedParity(active: Replay, candidate: Replay, directory: ClientDirectory) {
  const compare = createRecordedComparison(active, candidate, directory);
  const redaction = createRedaction(active.pack, { AUDIT_BODY_LIMIT: BODY_LIMIT });
  const options = {
    redaction: () => redaction,
    cover: () => [],
    newId: createRecordIds(),
    exampleRoom: new ClientRoom(Infinity),
  };
  let all: GrowingCounts | undefined;

  /** Returns the line about an example of a field. */
  function exampleLines(id: string, field: string): readonly string[] {
    const text = all?.examples.get(id)?.text;
    return text === undefined ? [] : [exampleLine(JSON.parse(text) as Example, field)];
  }

  return {
    async add(record: AuditRecord): Promise<void> {
      const compared = await compare(record);
      if (!compared) return;
      all ??= new GrowingCounts(createCounts(compared, Date.now()), () => {});
      all.count(compared, [], options);
    },
    /** Returns the report about all records that were added. */
    report(): Block[] {
      const summaries = all ? [summarize(all.counts, { rate: DEFAULT_RATE, pack: undefined })] : [];
      return outlineComparisons(summaries, { exampleLines, isComplete: true });
    },
  };
}
