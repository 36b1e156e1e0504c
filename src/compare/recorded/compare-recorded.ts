/** Compares the responses of two packs to recorded requests, with the recorded responses of v4. */
import type { AuditRecord, ClientDirectory } from "../../audit/index.ts";
import { NO_PLAN } from "../../gateway/index.ts";
import { createPackComparison, senderOf } from "../candidate/candidate-answer.ts";
import type { Compared } from "../answers/comparison.ts";
import { findObstacle } from "../replay/obstacles.ts";
import type { Replay } from "../replay/replay-record.ts";

/** Compares a record. Undefined if the record lacks data for a comparison. Never rejects. */
type CompareRecorded = (record: AuditRecord) => Promise<Compared | undefined>;

/**
 * Creates the comparison of two packs. Both process the record, so data that it lacks, such as secrets, is missing in
 * both results.
 *
 * @param active the pack of the recording
 */
export function createRecordedComparison(
  active: Replay,
  candidate: Replay,
  directory: ClientDirectory,
): CompareRecorded {
  const compare = createPackComparison({ PUBLIC_URL: candidate.publicUrl }, candidate.answering, NO_PLAN);
  const subject = `${active.pack.hash} ${candidate.pack.hash}`;

  return async function compareRecorded(record) {
    const { alpha, client, requestId } = record;
    const route = alpha.route === null ? undefined : active.pack.route(alpha.route);
    if (!route || findObstacle(record, active.pack) !== undefined) return undefined;
    await candidate.readCatalogs();
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
