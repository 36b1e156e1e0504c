import { REDACTED } from "../../audit/secret-values.ts";
import { checksumOf, CLIENT_GONE, type AuditRecord } from "../../audit/record.ts";
import { parseJson } from "../../dialect/json/parse.ts";
import { createDryRun, type DryRunResponse } from "../dry-run.ts";
import { isTruncated } from "../explain/recorded.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import {
  compareBodies,
  createDifference,
  createEntryComparison,
  createIdComparison,
  type ReplayDifference,
} from "./differences.ts";
import { createRecordedV4, withoutWaiting, type RecordedV4 } from "./recorded-v4.ts";

/** The result of one record under a pack. */
export type ReplayResult =
  /** `exact`: the response is the recorded one, byte for byte. */
  | { readonly kind: "same"; readonly exact?: true }
  | { readonly kind: "changed"; readonly differences: readonly ReplayDifference[] }
  | { readonly kind: "inconclusive"; readonly reason: string };

const inconclusive = (reason: string): ReplayResult => ({ kind: "inconclusive", reason });

/**
 * Whether the gateway rejected the request without the pack: rate limits and brown-outs, which the record names, and
 * credentials and scopes. A status that the pack also gives to invalid requests does not say it.
 */
const isRejectedBeforePack = (
  { alpha, v4, rejectedBy }: AuditRecord,
  { statuses: { translate, invalid, validation } }: Pack,
): boolean =>
  rejectedBy !== undefined ||
  (v4.length === 0 &&
    alpha.status !== invalid &&
    alpha.status !== validation &&
    [401, 403, 429, 500].map(translate).includes(alpha.status));

const hasSecrets = ({ alpha }: AuditRecord): boolean =>
  JSON.stringify([alpha.path, alpha.query, alpha.filter, alpha.body]).includes(REDACTED);

/** Why a record cannot be replayed; undefined if it can. */
function findObstacle(record: AuditRecord, pack: Pack): string | undefined {
  const { lane, alpha, v4 } = record;
  if (lane === "native") return "native request: no pack is involved";
  if (alpha.status === CLIENT_GONE) return "the client disconnected";
  const bodies = [alpha.body, alpha.response, ...v4.flatMap(({ body, response }) => [body, response])];
  if (bodies.some(isTruncated)) return "a body was recorded cut (AUDIT_BODY_LIMIT)";
  const lacksResponse = v4.some(({ status, response }) => status !== null && response === undefined);
  if (alpha.response === undefined || (lacksResponse && !alpha.response))
    return "bodies were not recorded (AUDIT=metadata)";
  if (typeof alpha.body === "string") return "the body was not JSON";
  if (isRejectedBeforePack(record, pack)) return "rejected before the pack was involved";
  const route = alpha.route === null ? undefined : pack.route(alpha.route);
  if (route && "catalog" in route.source) return "the response came from a catalog, which is not recorded";
  if (route?.upload || route?.file) return "a file, which is not recorded";
  return undefined;
}

/** Whether an id was rejected that no catalog had. The entries of catalogs are not recorded. */
const isUnknownRecord = ({ alpha }: AuditRecord, { dialect, errors }: Pack): boolean =>
  (errors.client.read(alpha.response)?.details ?? []).some(
    ({ reason }) => reason === dialect.messages.unknown_record,
  );

interface ComparedCall {
  readonly method: string;
  readonly path: string;
  readonly filter: string | null;
  readonly body?: unknown;
}

const comparableFilter = (filter: string | null): unknown => {
  try {
    return filter === null ? null : parseJson(filter);
  } catch {
    return filter;
  }
};

const requestLine = ({ method, path }: Pick<ComparedCall, "method" | "path">): string => `${method} ${path}`;

/** The differences of the v4 requests. Concurrent requests can come in any order. */
function compareCalls(
  was: readonly ComparedCall[],
  is: readonly ComparedCall[],
  route: Route | undefined,
): ReplayDifference[] {
  const remaining = [...is];
  const differences = was.flatMap((call): ReplayDifference[] => {
    const index = remaining.findIndex((candidate) => requestLine(candidate) === requestLine(call));
    const [other] = index === -1 ? [] : remaining.splice(index, 1);
    if (!other) return [createDifference("v4 call", requestLine(call), undefined)];
    const isEqual = route && createIdComparison(route);
    return [
      ...compareBodies(
        `filter of ${requestLine(call)}`,
        comparableFilter(call.filter),
        comparableFilter(other.filter),
        isEqual,
      ),
      ...compareBodies(`body of ${requestLine(call)}`, call.body, other.body, isEqual),
    ];
  });
  return [
    ...differences,
    ...remaining.map((call) => createDifference("v4 call", undefined, requestLine(call))),
  ];
}

const NEUTRAL_REASON = "a neutral reason";

/** A neutral error names the id of its request. A replay has another id, and another version may word it otherwise. */
const withoutId = (text: string, id: string): unknown =>
  JSON.parse(text, (_name, value: unknown) =>
    typeof value === "string" && id !== "" && value.includes(id) ? NEUTRAL_REASON : value,
  );

/** Removes what JSON cannot hold, such as members that are undefined. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : parseJson(JSON.stringify(value));

function compare(
  record: AuditRecord,
  { response, context }: DryRunResponse,
  pack: Pack,
  { unknown, cached }: RecordedV4,
): ReplayDifference[] {
  const { alpha, v4 } = record;
  const route = context.match?.route;
  const uncached = (context.upstream?.calls ?? []).filter(
    (call) => !cached.some((request) => requestLine(request) === requestLine(call)),
  );
  const sent = uncached.map(({ method, path, filter, body }) => ({
    method,
    path,
    filter,
    ...(body !== undefined && { body: asJson(body) }),
  }));
  const calls = compareCalls(withoutWaiting(v4, route), withoutWaiting(sent, route), route);
  const routeChange =
    (route?.name ?? null) === alpha.route
      ? []
      : [createDifference("route", alpha.route, route?.name ?? null)];
  // Without the response of v4 to a new request, the response of the gateway is unknown.
  if (unknown.length > 0) return [...routeChange, ...calls];
  const status =
    response.status === alpha.status ? [] : [createDifference("status", alpha.status, response.status)];
  const isEqual = route && createEntryComparison(route, pack);
  return [
    ...routeChange,
    ...calls,
    ...status,
    ...(response.status === pack.statuses.failed
      ? compareBodies(
          "response",
          withoutId(JSON.stringify(alpha.response ?? null), record.requestId),
          withoutId(response.body, response.headers["x-request-id"] ?? ""),
        )
      : compareBodies("response", alpha.response, parseJson(response.body || "null"), isEqual)),
  ];
}

/** Whether a replay has the response whose checksum was recorded. */
const isExact = ({ alpha }: AuditRecord, result: DryRunResponse | Error): boolean =>
  !(result instanceof Error) && alpha.checksum === checksumOf(result.response.body);

/** What a replay depends on apart from its pack. */
export interface ReplayOptions {
  /**
   * The replay under the pack of the recording. Secrets are recorded as placeholders, which can cause differences. Such a
   * difference counts as a change only if the control has none.
   */
  readonly control?: Replay;
  /** Base of links that have a host, as in the recording. */
  readonly publicUrl?: URL | undefined;
}

/** Runs one record. */
export type Replay = (record: AuditRecord) => Promise<ReplayResult>;

/**
 * Creates a function that runs recorded requests under a pack, with the recorded responses of v4. Nothing is sent.
 */
export function createReplay(pack: Pack, { control, publicUrl }: ReplayOptions = {}): Replay {
  const v4 = createRecordedV4(pack);
  const dryRun = createDryRun(pack, v4, { publicUrl });
  const header = pack.dialect.client.filters?.header;

  async function run({ client, alpha }: AuditRecord): Promise<DryRunResponse | Error> {
    const { method, path, query, filter, body } = alpha;
    try {
      return await dryRun.send({
        method,
        path: query === "" ? path : `${path}?${query}`,
        headers: {
          ...(filter !== null && header !== undefined && { [header]: filter }),
        },
        isAnonymous: client.fingerprint === null,
        body,
        address: client.address,
      });
    } catch (error) {
      return error as Error;
    }
  }

  return async function replay(record) {
    const obstacle = findObstacle(record, pack);
    if (obstacle !== undefined) return inconclusive(obstacle);
    v4.play(record);
    const result = await run(record);
    const hasFailed = result instanceof Error;
    if (hasFailed && record.alpha.status === pack.statuses.failed) return { kind: "same" };
    const differences = hasFailed
      ? [
          createDifference("status", record.alpha.status, pack.statuses.failed),
          createDifference("error", undefined, result.message),
        ]
      : compare(record, result, pack, v4);
    if (differences.length === 0) return { kind: "same", ...(isExact(record, result) && { exact: true }) };
    if (v4.cached.length > 0 && differences.every(({ what }) => what.startsWith("response")))
      return inconclusive("it depends on a v4 response that was cached, and is not recorded");
    if (isUnknownRecord(record, pack))
      return inconclusive("it depends on the entries of catalogs, which are not recorded");
    if (hasSecrets(record) && (await control?.(record))?.kind !== "same")
      return inconclusive("it differs, perhaps because of a secret in the request: secrets are not recorded");
    return { kind: "changed", differences };
  };
}
