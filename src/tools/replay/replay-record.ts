import { REDACTED } from "../../audit/redact-walk.ts";
import { CLIENT_GONE, type AuditRecord } from "../../audit/record.ts";
import { parseJson } from "../../dialect/json/parse.ts";
import { readErrors } from "../../dialect/errors.ts";
import { createDryRun, type DryRunResponse } from "../dry-run.ts";
import { isTruncated } from "../explain/recorded.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { bodyDifferences, hasDifference, sameEntry, sameId, type ReplayDifference } from "./differences.ts";
import { recordedV4, withoutWaiting, type RecordedV4 } from "./recorded-v4.ts";

/** What became of one record under another pack. */
export type ReplayResult =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly differences: readonly ReplayDifference[] }
  | { readonly kind: "inconclusive"; readonly why: string };

const inconclusive = (why: string): ReplayResult => ({ kind: "inconclusive", why });

/** Statuses that the gateway gives by itself before a pack is asked: credentials, scopes, limits, brown-outs. */
const isBeforeThePack = ({ alpha, v4 }: AuditRecord, { dialect }: Pack): boolean =>
  v4.length === 0 &&
  [401, 403, dialect.statuses.rate_limited.alpha, dialect.statuses.other].includes(alpha.status);

const hasSecrets = ({ alpha }: AuditRecord): boolean =>
  JSON.stringify([alpha.path, alpha.query, alpha.filter, alpha.body]).includes(REDACTED);

/** Why a record can't be run again; undefined where it can. */
function obstacle(record: AuditRecord, pack: Pack): string | undefined {
  const { lane, alpha, v4 } = record;
  if (lane === "native") return "v4's own dialect: no pack is asked";
  if (alpha.status === CLIENT_GONE) return "its client went away";
  const bodies = [alpha.body, alpha.response, ...v4.flatMap(({ body, response }) => [body, response])];
  if (bodies.some(isTruncated)) return "a body was recorded cut (AUDIT_BODY_LIMIT)";
  const silent = v4.some(({ status, response }) => status !== null && response === undefined);
  if (alpha.response === undefined || (silent && !alpha.response))
    return "bodies were not recorded (AUDIT=metadata)";
  if (typeof alpha.body === "string") return "the body was no JSON";
  if (isBeforeThePack(record, pack)) return "refused before the pack is asked";
  const route = alpha.route === null ? undefined : pack.route(alpha.route);
  if (route && "catalog" in route.source) return "answered from the copy of a catalog, which is not recorded";
  if (route?.upload || route?.file) return "a file, which is not recorded";
  return undefined;
}

/** Whether something was refused that no catalog had; which ones they had is not recorded. */
const isUnknownRecord = ({ alpha }: AuditRecord, { dialect }: Pack): boolean =>
  (readErrors(alpha.response, dialect.errors) ?? []).some(
    ({ reason }) => reason === dialect.reasons.unknown_record,
  );

interface Call {
  readonly method: string;
  readonly path: string;
  readonly filter: string | null;
  readonly body?: unknown;
}

const parsed = (filter: string | null): unknown => {
  try {
    return filter === null ? null : parseJson(filter);
  } catch {
    return filter;
  }
};

const named = ({ method, path }: Pick<Call, "method" | "path">): string => `${method} ${path}`;

/** What is sent to v4 otherwise. Calls that are made at the same time come in any order. */
function callDifferences(
  was: readonly Call[],
  is: readonly Call[],
  route: Route | undefined,
): ReplayDifference[] {
  const left = [...is];
  const found = was.flatMap((call): ReplayDifference[] => {
    const index = left.findIndex((other) => named(other) === named(call));
    const [same] = index === -1 ? [] : left.splice(index, 1);
    if (!same) return [hasDifference("v4 call", named(call), undefined)];
    const equal = route && sameId(route);
    return [
      ...bodyDifferences(`filter of ${named(call)}`, parsed(call.filter), parsed(same.filter), equal),
      ...bodyDifferences(`body of ${named(call)}`, call.body, same.body, equal),
    ];
  });
  return [...found, ...left.map((call) => hasDifference("v4 call", undefined, named(call)))];
}

/** The reason of a neutral 500 has the id of its request in it, and that of a replay has its own. */
const withoutId = (text: string, id: string): unknown =>
  parseJson(id === "" ? text : text.replaceAll(id, "ID"));

/** As JSON has it: what is not written is not there. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : parseJson(JSON.stringify(value));

function compare(
  record: AuditRecord,
  { response: answer, context: notes }: DryRunResponse,
  pack: Pack,
  { unknown, kept }: RecordedV4,
): ReplayDifference[] {
  const { alpha, v4 } = record;
  const route = notes.match?.route;
  const asked = notes.calls.filter((call) => !kept.some((read) => named(read) === named(call)));
  const made = asked.map(({ method, path, filter, body }) => ({
    method,
    path,
    filter,
    ...(body !== undefined && { body: asJson(body) }),
  }));
  const calls = callDifferences(withoutWaiting(v4, route), withoutWaiting(made, route), route);
  const moved =
    (route?.name ?? null) === alpha.route ? [] : [hasDifference("route", alpha.route, route?.name ?? null)];
  // What v4 would say to a call that was never made is not known, and so is the answer.
  if (unknown.length > 0) return [...moved, ...calls];
  const status = answer.status === alpha.status ? [] : [hasDifference("status", alpha.status, answer.status)];
  const equal = route && sameEntry(route, pack);
  return [
    ...moved,
    ...calls,
    ...status,
    ...(answer.status === pack.dialect.statuses.other
      ? bodyDifferences(
          "answer",
          withoutId(JSON.stringify(alpha.response ?? null), record.requestId),
          withoutId(answer.body, answer.headers["x-request-id"] ?? ""),
        )
      : bodyDifferences("answer", alpha.response, parseJson(answer.body), equal)),
  ];
}

export type Replay = (record: AuditRecord) => Promise<ReplayResult>;

/**
 * Prepares to run recorded requests again under a pack, over v4's recorded answers; nothing is sent.
 *
 * @param control The replay under the pack of the recording. Secrets are not recorded, so that a difference in a
 *   request that had one can be due to the placeholder in its place: it is the pack's where the control has none.
 */
export function replayUnder(pack: Pack, control?: Replay): Replay {
  const v4 = recordedV4(pack);
  const road = createDryRun(pack, v4);
  const { header } = pack.dialect.filter;

  async function run({ client, alpha }: AuditRecord): Promise<DryRunResponse | Error> {
    const { method, path, query, filter, body } = alpha;
    try {
      return await road.send({
        method,
        path: query === "" ? path : `${path}?${query}`,
        headers: {
          ...(filter !== null && { [header]: filter }),
          ...(client.fingerprint === null && { authorization: "" }),
        },
        body,
        address: client.address,
      });
    } catch (error) {
      return error as Error;
    }
  }

  return async function replay(record) {
    const why = obstacle(record, pack);
    if (why !== undefined) return inconclusive(why);
    v4.play(record);
    const result = await run(record);
    const failed = result instanceof Error;
    if (failed && record.alpha.status === pack.dialect.statuses.other) return { kind: "same" };
    const differences = failed
      ? [
          hasDifference("status", record.alpha.status, pack.dialect.statuses.other),
          hasDifference("fault", undefined, result.message),
        ]
      : compare(record, result, pack, v4);
    if (differences.length === 0) return { kind: "same" };
    if (v4.kept.length > 0 && differences.every(({ what }) => what.startsWith("answer")))
      return inconclusive(
        "it depends on a read whose answer was kept from an earlier request, and is not recorded",
      );
    if (isUnknownRecord(record, pack))
      return inconclusive("it depends on what catalogs had, which is not recorded");
    if (hasSecrets(record) && (await control?.(record))?.kind !== "same")
      return inconclusive("it differs, and a secret in the request may be why: secrets are not recorded");
    return { kind: "changed", differences };
  };
}
