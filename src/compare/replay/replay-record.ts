import { type AuditRecord, checksumOf } from "../../audit/index.ts";
import { NO_CATALOGS, type Pack } from "../../pack/index.ts";
import type { Asked, Exchange, SecondAnswer } from "../answers/comparison.ts";
import { type CatalogLists, createCatalogUpstream } from "../dry-run/catalog-upstream.ts";
import { clientBody } from "../dry-run/recorded-body.ts";
import type { DryRunOptions, DryRunResponse } from "../dry-run/dry-run.ts";
import { createRecordedAnswer, type RecordedAnswer } from "../dry-run/recorded-answer.ts";
import {
  compareOutcomes,
  createEntryComparison,
  type EntryComparison,
  recordedOutcome,
  type ReplayOutcome,
  runOutcome,
} from "./compare-result.ts";
import { compareRules } from "./compare-rules.ts";
import type { ReplayDifference } from "./differences.ts";
import { findObstacle, FROM_CATALOG, hasSecrets, isOtherVersion, isUnknownRecord } from "./obstacles.ts";
import { recordedCalls } from "../dry-run/recorded-v4.ts";

/** The result of one record under a pack. */
export type ReplayResult = Outcome & {
  /** Differences in the rules of both packs that affect the request and that no recorded response contains. */
  readonly rules?: readonly ReplayDifference[];
};

type Outcome =
  /** `exact`: the response equals the recorded one, byte for byte. */
  | {
      readonly kind: "same";
      readonly exact?: true;
      /** Catalogs whose entries in the response were not compared. Left out if empty. */
      readonly uncompared?: readonly string[];
    }
  | { readonly kind: "changed"; readonly differences: readonly ReplayDifference[] }
  | { readonly kind: "inconclusive"; readonly reason: string };

const inconclusive = (reason: string): ReplayResult => ({ kind: "inconclusive", reason });

/** Whether the response of a replay has the recorded checksum. */
const isExact = ({ alpha }: AuditRecord, run: DryRunResponse | Error): boolean =>
  !(run instanceof Error) && alpha.checksum === checksumOf(run.response.body);

/** Returns the headers that select the version of the pack. Headers of a request are not recorded. */
function versionHeaders({ dialect }: Pack): Readonly<Record<string, string>> {
  const { header, value, media_type: type } = dialect.client.version ?? {};
  if (type !== undefined) return { accept: type };
  return header === undefined || value === undefined ? {} : { [header]: value };
}

/** The inputs of a replay, except for its pack. */
export interface ReplayOptions {
  /**
   * The replay under the pack of the recording. Its result is compared, because secrets, headers and catalogs are not
   * recorded, so that both packs lack them in the same way. The rules about credentials, scopes and headers are
   * compared as well.
   */
  readonly control?: Replay;
  /** Base of links that contain a host, as in the recording. */
  readonly publicUrl?: URL | undefined;
  /** The objects of v4's catalogs. The control needs the same objects. Default: none. */
  readonly catalogs?: CatalogLists;
  /** Current entries of catalogs, which replace those objects. */
  readonly entries?: DryRunOptions["entries"];
}

const SAME_PACK =
  "it differs, although this pack made it: it depends on headers, or on other data that is not recorded";
const SECRET = "it differs, perhaps because of a secret in the request: secrets are not recorded";

/** Runs recorded requests under a pack, with the recorded responses of v4. Nothing is sent. */
export class Replay implements SecondAnswer {
  readonly source = "candidate";
  readonly pack: Pack;
  readonly #control: Replay | undefined;
  readonly #answer: RecordedAnswer;
  #catalogsRead: Promise<unknown> | undefined;

  constructor(pack: Pack, { control, publicUrl, catalogs: lists = {}, entries }: ReplayOptions = {}) {
    this.pack = pack;
    this.#control = control;
    const catalogUpstream = createCatalogUpstream(pack, lists);
    this.#answer = createRecordedAnswer(pack, {
      publicUrl,
      catalogUpstream,
      acceptsUnknownIds: true,
      entries,
    });
  }

  /** Responds to the request of another replay. */
  async ask(exchange: Exchange): Promise<Asked> {
    await this.readCatalogs();
    return this.#answer.ask(exchange);
  }

  /** Runs one record. */
  async run(record: AuditRecord): Promise<ReplayResult> {
    const result = await this.#judge(record);
    const rules = this.#control ? compareRules(record, this.#control.pack, this.pack) : [];
    return rules.length === 0 ? result : { ...result, rules };
  }

  /** Reads the catalogs, once. */
  async readCatalogs(): Promise<void> {
    const { catalogs } = this.#answer.dryRun;
    await (this.#catalogsRead ??= catalogs.refresh().finally(() => catalogs.stop()));
  }

  /** Returns the response under the pack, without a comparison. */
  async respond(record: AuditRecord): Promise<DryRunResponse | Error> {
    const { client, alpha } = record;
    const { method, path, query, filter } = alpha;
    const { v4, dryRun } = this.#answer;
    const header = this.pack.dialect.client.filters?.header;
    await this.readCatalogs();
    v4.play(record.alpha.route, recordedCalls(record));
    try {
      const { type, body } = clientBody(alpha.body, this.pack);
      return await dryRun.send({
        method,
        path: query === "" ? path : `${path}?${query}`,
        headers: {
          ...versionHeaders(this.pack),
          ...(type !== undefined && { "content-type": type }),
          ...(filter !== null && header !== undefined && { [header]: filter }),
        },
        isAnonymous: client.fingerprint === null,
        body,
        address: client.address,
        time: new Date(record.time),
      });
    } catch (error) {
      return error as Error;
    }
  }

  /** Returns the text of all entries of a catalog whose objects are given; empty before the first record. */
  entriesOf(catalog: string): string {
    return (this.#answer.dryRun.catalogs.list(catalog) ?? []).map(({ text }) => text).join();
  }

  async #judge(record: AuditRecord): Promise<ReplayResult> {
    const { pack } = this;
    const control = this.#control;
    const obstacle = findObstacle(record, pack);
    if (obstacle !== undefined && (obstacle !== FROM_CATALOG || !control)) return inconclusive(obstacle);
    const was = control && control.#outcomeOf(await control.respond(record), record);
    const run = await this.respond(record);
    const is = this.#outcomeOf(run, record);
    const route = run instanceof Error ? undefined : run.context.match?.route;
    const changes = was ? compareOutcomes(was, is, route) : [];
    if (changes.length > 0) return { kind: "changed", differences: changes };
    if (obstacle !== undefined) return inconclusive(obstacle);
    const entries = route && createEntryComparison(route, pack);
    const differences = compareOutcomes(recordedOutcome(record, pack), is, route, entries?.isEqual);
    if (differences.length > 0) return this.#judgeUnlike(record, differences);
    return this.#judgeSame(is, entries, isExact(record, run));
  }

  /** Returns the outcome of the last record. A request that failed unexpectedly has no route or calls to compare. */
  #outcomeOf(run: DryRunResponse | Error, { alpha }: AuditRecord): ReplayOutcome {
    if (!(run instanceof Error)) return runOutcome(run, this.pack, this.#answer.v4);
    const { failed: status } = this.pack.statuses;
    return { route: alpha.route, calls: [], status, response: undefined, error: run.message };
  }

  /** The result of a record without a difference, if its entries of catalogs could be compared. */
  #judgeSame(
    { response }: ReplayOutcome,
    entries: EntryComparison | undefined,
    exact: boolean,
  ): ReplayResult {
    const control = this.#control;
    // Without a control, no entry was compared with anything.
    const copy = control ? this.#answer.dryRun.catalogs : NO_CATALOGS;
    const uncompared = entries?.findUnknown(response, copy) ?? [];
    const differing = uncompared.filter(
      (name) => control && control.entriesOf(name) !== this.entriesOf(name),
    );
    if (differing.length > 0)
      return inconclusive(`it has entries of ${differing.join(", ")} that are not in examples/catalogs.yaml`);
    return {
      kind: "same",
      ...(exact && { exact: true as const }),
      ...(uncompared.length > 0 && { uncompared }),
    };
  }

  /** The meaning of differences from a record, which this pack has not caused, or which the record itself may cause. */
  #judgeUnlike(record: AuditRecord, differences: readonly ReplayDifference[]): ReplayResult {
    if (this.#answer.v4.cached.length > 0 && differences.every(({ what }) => what.startsWith("response")))
      return inconclusive("it depends on a v4 response that was cached, and is not recorded");
    if (isUnknownRecord(record, this.pack))
      return inconclusive("it depends on the entries of catalogs, which are not recorded");
    if (isOtherVersion(record, this.pack))
      return inconclusive("it asked for a version, which is not recorded");
    if (hasSecrets(record)) return inconclusive(SECRET);
    if (record.pack === this.pack.hash) return inconclusive(SAME_PACK);
    return this.#control
      ? inconclusive("it differs under the current pack, too")
      : { kind: "changed", differences };
  }
}
