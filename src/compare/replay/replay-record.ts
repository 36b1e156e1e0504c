import { type AuditRecord, checksumOf } from "../../audit/index.ts";
import { NO_CATALOGS, type Pack } from "../../pack/index.ts";
import type { OtherPack } from "../candidate/candidate-answer.ts";
import { type CatalogLists, createCatalogUpstream } from "../dry-run/catalog-upstream.ts";
import { clientBody } from "../dry-run/recorded-body.ts";
import {
  createDryRun,
  type DryRun,
  type DryRunOptions,
  type DryRunResponse,
  EXAMPLE_URL,
} from "../dry-run/dry-run.ts";
import { bodyOf, compareResult, createEntryComparison, type EntryComparison } from "./compare-result.ts";
import { compareRules } from "./compare-rules.ts";
import { compareBodies, createDifference, type ReplayDifference } from "./differences.ts";
import { findObstacle, FROM_CATALOG, hasSecrets, isOtherVersion, isUnknownRecord } from "./obstacles.ts";
import { createRecordedV4, recordedCalls, type RecordedV4 } from "../dry-run/recorded-v4.ts";

/** The result of one record under a pack. */
export type ReplayResult = Outcome & {
  /** Differences in the rules of both packs that affect the request and that no recorded response shows. */
  readonly rules?: readonly ReplayDifference[];
};

type Outcome =
  /** `exact`: the response is the recorded one, byte for byte. */
  | {
      readonly kind: "same";
      readonly exact?: true;
      /** Catalogs whose entries in the response were not compared. Left out without any. */
      readonly uncompared?: readonly string[];
    }
  | { readonly kind: "changed"; readonly differences: readonly ReplayDifference[] }
  | { readonly kind: "inconclusive"; readonly reason: string };

const inconclusive = (reason: string): ReplayResult => ({ kind: "inconclusive", reason });

/** Whether a replay has the response whose checksum was recorded. */
const isExact = ({ alpha }: AuditRecord, result: DryRunResponse): boolean =>
  alpha.checksum === checksumOf(result.response.body);

/** Headers that select the version of the pack. Headers of a request are not recorded. */
function versionHeaders({ dialect }: Pack): Readonly<Record<string, string>> {
  const { header, value, media_type: type } = dialect.client.version ?? {};
  if (type !== undefined) return { accept: type };
  return header === undefined || value === undefined ? {} : { [header]: value };
}

/** The inputs of a replay other than its pack. */
export interface ReplayOptions {
  /**
   * The replay under the pack of the recording. A difference counts as a change only if the control does not have it,
   * because secrets, headers and catalogs are not recorded. Entries of catalogs, and the rules about credentials,
   * scopes and headers, are compared with those of the control.
   */
  readonly control?: Replay;
  /** Base of links that have a host, as in the recording. */
  readonly publicUrl?: URL | undefined;
  /** The objects of v4's catalogs. The control needs the same ones. Default: none. */
  readonly catalogs?: CatalogLists;
  /** Current entries of catalogs, which replace those objects. */
  readonly entries?: DryRunOptions["entries"];
}

const SECRET = "it differs, perhaps because of a secret in the request: secrets are not recorded";

/** Changes that only this pack causes, or why they are unknown. */
function judge(
  record: AuditRecord,
  differences: readonly ReplayDifference[],
  control: ReplayResult,
): ReplayResult {
  if (control.kind === "same") return { kind: "changed", differences };
  if (control.kind === "changed" && hasSecrets(record)) return inconclusive(SECRET);
  const underControl = new Set(
    control.kind === "changed" ? control.differences.map((each) => JSON.stringify(each)) : [],
  );
  const changes = differences.filter((each) =>
    control.kind === "changed" ? !underControl.has(JSON.stringify(each)) : each.what === "route",
  );
  if (changes.length > 0) return { kind: "changed", differences: changes };
  return control.kind === "inconclusive" ? control : inconclusive("it differs under the current pack, too");
}

/** Runs recorded requests under a pack, with the recorded responses of v4. Nothing is sent. */
export class Replay {
  readonly pack: Pack;
  /** Base of links that have a host. */
  readonly publicUrl: URL;
  readonly #control: Replay | undefined;
  readonly #v4: RecordedV4;
  readonly #dryRun: DryRun;
  #catalogsRead: Promise<void> | undefined;

  constructor(pack: Pack, { control, publicUrl, catalogs: lists = {}, entries }: ReplayOptions = {}) {
    this.pack = pack;
    this.publicUrl = publicUrl ?? EXAMPLE_URL;
    this.#control = control;
    this.#v4 = createRecordedV4(pack);
    const catalogUpstream = createCatalogUpstream(pack, lists);
    const options = { publicUrl: this.publicUrl, catalogUpstream, acceptsUnknownIds: true, entries };
    this.#dryRun = createDryRun(pack, this.#v4, options);
  }

  /** The pack with the functions that answer requests. */
  get answering(): OtherPack {
    const { catalogs, upstreamTokens } = this.#dryRun;
    return { pack: this.pack, catalogs, upstreamTokens };
  }

  /** Runs one record. */
  async run(record: AuditRecord): Promise<ReplayResult> {
    const result = await this.#replayResponse(record);
    const rules = this.#control ? compareRules(record, this.#control.pack, this.pack) : [];
    return rules.length === 0 ? result : { ...result, rules };
  }

  /** Reads the catalogs, once. */
  async readCatalogs(): Promise<void> {
    const { catalogs } = this.#dryRun;
    await (this.#catalogsRead ??= catalogs.refresh().finally(() => catalogs.stop()));
  }

  /** The response under the pack, without a comparison. */
  async respond(record: AuditRecord): Promise<DryRunResponse | Error> {
    const { client, alpha } = record;
    const { method, path, query, filter } = alpha;
    const header = this.pack.dialect.client.filters?.header;
    await this.readCatalogs();
    this.#v4.play(record.alpha.route, recordedCalls(record));
    try {
      const { type, body } = clientBody(alpha.body, this.pack);
      return await this.#dryRun.send({
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

  /** The text of all entries of a catalog, as far as its objects are given; empty before the first record. */
  entriesOf(catalog: string): string {
    return (this.#dryRun.catalogs.list(catalog) ?? []).map(({ text }) => text).join();
  }

  async #replayResponse(record: AuditRecord): Promise<ReplayResult> {
    const { pack } = this;
    const obstacle = findObstacle(record, pack);
    if (obstacle === FROM_CATALOG) return this.#compareCatalog(record);
    if (obstacle !== undefined) return inconclusive(obstacle);
    const result = await this.respond(record);
    if (result instanceof Error) {
      const { failed } = pack.statuses;
      if (record.alpha.status === failed) return { kind: "same" };
      return this.#conclude(record, [
        createDifference("status", record.alpha.status, failed),
        createDifference("error", undefined, result.message),
      ]);
    }
    const route = result.context.match?.route;
    const entries = route && createEntryComparison(route, pack);
    const differences = compareResult(record, result, pack, this.#v4, entries);
    const entryDifferences = await this.#compareEntries(record, result, entries);
    const others = differences.filter(({ what }) => entryDifferences.every((entry) => entry.what !== what));
    if (entryDifferences.length > 0)
      return { kind: "changed", differences: [...entryDifferences, ...others] };
    return others.length > 0 ? this.#conclude(record, others) : this.#toSame(record, result, entries);
  }

  /** The result of a record without a difference, if its entries of catalogs could be compared. */
  #toSame(record: AuditRecord, result: DryRunResponse, entries: EntryComparison | undefined): ReplayResult {
    const control = this.#control;
    // Without a control, no entry was compared with anything.
    const copy = control ? this.#dryRun.catalogs : NO_CATALOGS;
    const uncompared = entries?.findUnknown(bodyOf(result.response), copy) ?? [];
    const differing = uncompared.filter(
      (name) => control && control.entriesOf(name) !== this.entriesOf(name),
    );
    if (differing.length > 0)
      return inconclusive(`it has entries of ${differing.join(", ")} that are not in examples/catalogs.yaml`);
    return {
      kind: "same",
      ...(isExact(record, result) && { exact: true as const }),
      ...(uncompared.length > 0 && { uncompared }),
    };
  }

  /** The differences of entries from those under the control. */
  async #compareEntries(
    record: AuditRecord,
    result: DryRunResponse,
    entries: EntryComparison | undefined,
  ): Promise<ReplayDifference[]> {
    const expected = entries && (await this.#control?.respond(record));
    if (!entries || !expected || expected instanceof Error) return [];
    return entries.compareWithControl(bodyOf(expected.response), bodyOf(result.response));
  }

  async #compareCatalog(record: AuditRecord): Promise<ReplayResult> {
    const [is, was] = [await this.respond(record), await this.#control?.respond(record)];
    if (!was || was instanceof Error || is instanceof Error) return inconclusive(FROM_CATALOG);
    const differences = compareBodies("response", bodyOf(was.response), bodyOf(is.response));
    return differences.length > 0 ? { kind: "changed", differences } : inconclusive(FROM_CATALOG);
  }

  /** The meaning of the differences. Differences of an incomplete record are not changes. */
  async #conclude(record: AuditRecord, differences: readonly ReplayDifference[]): Promise<ReplayResult> {
    if (this.#v4.cached.length > 0 && differences.every(({ what }) => what.startsWith("response")))
      return inconclusive("it depends on a v4 response that was cached, and is not recorded");
    if (isUnknownRecord(record, this.pack))
      return inconclusive("it depends on the entries of catalogs, which are not recorded");
    if (isOtherVersion(record, this.pack))
      return inconclusive("it asked for a version, which is not recorded");
    if (this.#control) return judge(record, differences, await this.#control.run(record));
    return hasSecrets(record) ? inconclusive(SECRET) : { kind: "changed", differences };
  }
}
