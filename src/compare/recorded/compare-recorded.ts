/** Compares the answers of two packs to recorded requests, over the responses of v4 that were recorded. */
import type { AuditRecord, ClientDirectory } from "../../audit/index.ts";
import { acceptDifferences } from "../answers/accepted.ts";
import type { Answer, Compared, NotComparableReason } from "../counts/comparison.ts";
import type { DryRunResponse } from "../dry-run/dry-run.ts";
import { provenBy } from "../counts/proven-by.ts";
import { findObstacle } from "../replay/obstacles.ts";
import { areMade } from "../replay/recorded-v4.ts";
import type { Replay } from "../replay/replay-record.ts";
import { judgeAnswers, type AnswerJudgement } from "./judge-answers.ts";

/** Compares a record; undefined for one that lacks what a comparison needs. Never rejects. */
export type CompareRecorded = (record: AuditRecord) => Promise<Compared | undefined>;

/** A bug of an expression has no response. */
const FAILED: Answer = { status: 500, headers: {}, body: Buffer.alloc(0) };

const toAnswer = (result: DryRunResponse | Error): Answer =>
  result instanceof Error ? FAILED : { ...result.response, body: Buffer.from(result.response.body) };

const toCalls = ({ context: { match, upstream } }: DryRunResponse) => ({
  route: match?.route,
  calls: upstream?.calls ?? [],
});

const notComparable = (reason: NotComparableReason): AnswerJudgement => ({
  result: "not_comparable",
  reason,
});

/**
 * Creates the comparison of two packs. Both run over the record: what it lacks, such as secrets, both lack.
 *
 * @param active the pack of the recording
 */
export function createRecordedComparison(
  active: Replay,
  candidate: Replay,
  directory: ClientDirectory,
): CompareRecorded {
  const acceptedBy = acceptDifferences(candidate.pack.acceptedDifferences);
  const subject = `${active.pack.hash} ${candidate.pack.hash}`;

  async function judge(
    { alpha, ...record }: AuditRecord,
    name: string,
  ): Promise<AnswerJudgement | undefined> {
    const route = active.pack.route(name);
    const [old, other] = [
      await active.respond({ alpha, ...record }),
      await candidate.respond({ alpha, ...record }),
    ];
    if (!route || old instanceof Error) return undefined;
    if (route.tokenLevels) return notComparable("token");
    if (!(other instanceof Error) && !areMade(toCalls(old), toCalls(other))) return notComparable("calls");
    const { method, path, query, filter } = alpha;
    const sample = {
      method,
      path: query === "" ? path : `${path}?${query}`,
      filter,
      old: toAnswer(old),
      new: toAnswer(other),
    };
    return judgeAnswers({ pack: active.pack, route }, sample, acceptedBy);
  }

  return async function compareRecorded(record) {
    const { alpha, client } = record;
    if (alpha.route === null || findObstacle(record, active.pack) !== undefined) return undefined;
    const judgement = await judge(record, alpha.route);
    if (!judgement) return undefined;
    const { fingerprint, application, label, userAgent } = client;
    const identity = { label, application, fingerprint: fingerprint ?? undefined };
    const name = directory.nameOf({ ...identity, userAgent: userAgent ?? undefined });
    return {
      key: undefined,
      differences: [],
      source: "candidate",
      subject,
      route: alpha.route,
      client: name ?? application ?? fingerprint,
      provenBy: provenBy(directory.nameOf(identity), identity.fingerprint, client.address),
      time: Date.parse(record.time),
      requestId: record.requestId,
      ...judgement,
    };
  };
}
