/** Finds data that is missing in a record and prevents its replay from being judged. */
import { type AuditRecord, isTruncated, type RecordedCall, REDACTED } from "../../audit/index.ts";
import { CLIENT_GONE } from "../../base/index.ts";
import { errorsOf, NOT_MODIFIED, type Pack, UNREADABLE_BODY, wrongMediaType } from "../../pack/index.ts";

const NOT_ACCEPTABLE = 406;

/**
 * Whether the gateway rejected the request without the pack: because of rate limits and brown-outs, which the record
 * contains, or credentials and scopes. A status that the pack also uses for invalid requests does not prove this.
 */
const isRejectedBeforePack = (
  { alpha, v4, rejectedBy }: AuditRecord,
  { statuses: { translate, invalid, validation } }: Pack,
): boolean =>
  rejectedBy !== undefined ||
  (v4.length === 0 &&
    alpha.status !== invalid &&
    !Object.values(validation).includes(alpha.status) &&
    [401, 403, 429, 500].map(translate).includes(alpha.status));

export const hasSecrets = ({ alpha }: AuditRecord): boolean =>
  JSON.stringify([alpha.path, alpha.query, alpha.filter, alpha.body]).includes(REDACTED);

export const FROM_CATALOG = "the response came from a catalog, which is not recorded";

/** Whether a path belongs to the login server, so that no route of the pack is involved. */
function isLogin({ path }: AuditRecord["alpha"], { dialect: { oauth } }: Pack): boolean {
  if (!oauth) return false;
  const { authorize, token, revoke, logout } = oauth;
  return [authorize, token, revoke, logout].some(({ client }) => client === path);
}

/** Returns the text of the record's error. */
const clientErrors = ({ alpha: { route, response } }: AuditRecord, pack: Pack) =>
  errorsOf(route === null ? undefined : pack.route(route), pack).client.read(response);

/** Whether a body was rejected before it was parsed. The headers that describe it are not recorded. */
const isUnreadBody = (record: AuditRecord, pack: Pack): boolean =>
  [UNREADABLE_BODY, wrongMediaType(pack.mediaTypes.names)].includes(
    clientErrors(record, pack)?.details[0]?.reason ?? "",
  );

/** Returns why a record can't be replayed; undefined if it can. */
export function findObstacle(record: AuditRecord, pack: Pack): string | undefined {
  const { lane, alpha, v4, bytes } = record;
  if (lane === "native") return "native request: no pack is involved";
  if (lane === "legacy") return "answered by the old service: no pack is involved";
  if (record.requests === 0)
    return "a page for clients, or a check of a token: no route of the pack is involved";
  if (isLogin(alpha, pack)) return "call of the login server: no route of the pack is involved";
  if (alpha.path === "") return "the request was not recorded";
  if (alpha.status === NOT_MODIFIED)
    return "the client had this version already, by a header, and headers are not recorded";
  if (alpha.status === CLIENT_GONE) return "the client disconnected";
  const bodies = [alpha.body, alpha.response, ...v4.flatMap(({ body, response }) => [body, response])];
  if (bodies.some(isTruncated)) return "a body was recorded cut (AUDIT_BODY_LIMIT)";
  const lacksResponse = v4.some(({ status, response }) => status !== null && response === undefined);
  if (alpha.response === undefined || (lacksResponse && !alpha.response))
    return "bodies were not recorded (AUDIT=metadata)";
  if (typeof alpha.body === "string" && pack.mediaTypes.formatOf(undefined) !== "form")
    return "the body was not JSON";
  if (alpha.body === undefined && bytes?.in > 0) return "the body was not recorded";
  if (isUnreadBody(record, pack))
    return "the body was not parsed, for its type or encoding, which is not recorded";
  if (isRejectedBeforePack(record, pack)) return "rejected before the pack was involved";
  const route = alpha.route === null ? undefined : pack.route(alpha.route);
  if (route && "catalog" in route.source) return FROM_CATALOG;
  if (route?.comparison.obstacle === "file") return "a file, which is not recorded";
  const isPolledByHeaders = ({ status }: RecordedCall): boolean =>
    route?.calls.some((call) => call.readsHeaders && call.status === status) === true;
  if (v4.some(isPolledByHeaders))
    return "the result was polled by headers of responses, which are not recorded";
  return undefined;
}

/** Whether an id was rejected because no catalog contained it. The entries of catalogs are not recorded. */
export const isUnknownRecord = (record: AuditRecord, pack: Pack): boolean =>
  (clientErrors(record, pack)?.details ?? []).some(
    ({ reason }) => reason === pack.dialect.messages.unknown_record,
  );

/** Whether a request was rejected because it requires a different version. */
export const isOtherVersion = ({ alpha, v4 }: AuditRecord, { dialect, statuses }: Pack): boolean =>
  dialect.client.version !== undefined &&
  v4.length === 0 &&
  alpha.status === statuses.translate(NOT_ACCEPTABLE);
