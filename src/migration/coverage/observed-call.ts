/** An observed call of the old API, as the client sent it. */
import {
  applicationKey,
  type AuditRecord,
  type ClientDirectory,
  type ClientIdentity,
  isClientApi,
  isTruncated,
  labelKey,
  lastingName,
} from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { provenBy } from "../../gateway/index.ts";

export interface ObservedCall {
  /** The location of the observation: the id of a record, or the position of an entry. */
  readonly id: string;
  /** The client's name in the directory, otherwise its key; null for calls without a token. */
  readonly client: string | null;
  /** The proven sender, in the form for counting clients in comparisons: its name, otherwise its token and network. */
  readonly provenBy: string;
  /** Whether `provenBy` is a name. */
  readonly isProven: boolean;
  /** Whether the call comes from an archive, whose creator knows which clients it contains. */
  readonly isArchived: boolean;
  readonly method: string;
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  /** The known headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The filter in the old API's header; null if missing. */
  readonly filter: string | null;
  /** JSON, the members of a form, or the text of a body with a content type in `headers`. */
  readonly body?: unknown;
  /** The media type of a file that was sent instead of a body. */
  readonly file?: string;
  /** The reason why the body is unknown. Undefined if it is known, or if there is none. */
  readonly missingBody?: string;
  readonly hasToken: boolean;
  /** The reason why the call proves nothing about the pack; undefined for a call that the pack should serve. */
  readonly skipped: string | undefined;
  /** The number of calls that it represents. */
  readonly count: number;
}

/** Returns the sender of a call for people; null if it is unknown. */
export function clientOf(identity: ClientIdentity, directory: ClientDirectory): string | null {
  const { label, application, fingerprint } = identity;
  const name = directory.nameOf(identity);
  if (name !== undefined) return name;
  if (label) return labelKey(label);
  if (application) return applicationKey(application);
  return fingerprint ?? null;
}

/** Returns the proven sender of a record's call. */
function senderOf(
  { client }: AuditRecord,
  directory: ClientDirectory,
): Pick<ObservedCall, "provenBy" | "isProven" | "isArchived"> {
  const name = client.label ?? lastingName(directory, { ...client, userAgent: undefined });
  const by = provenBy(name, client.fingerprint, client.address);
  return { provenBy: by, isProven: name !== undefined, isArchived: false };
}

/** Returns the recorded part of the client's body. */
function bodyOf({
  alpha: { body },
  bytes,
}: AuditRecord): Pick<ObservedCall, "body" | "file" | "missingBody"> {
  if (isObject(body) && isObject(body["streamed"])) {
    const type = (body["streamed"] as { readonly type?: unknown }).type;
    return { file: typeof type === "string" ? type : "application/octet-stream" };
  }
  if (isTruncated(body)) return { missingBody: "its body was recorded cut (AUDIT_BODY_LIMIT)" };
  if (typeof body === "string") return { missingBody: "its body is neither JSON nor a form" };
  if (body !== undefined) return { body };
  return bytes.in > 0 ? { missingBody: "its body was not recorded (AUDIT=metadata)" } : {};
}

/** Returns why a record is not judged: a pack need not serve calls that the old API also refused. */
function skippedFor({ lane, alpha, client, rejectedBy }: AuditRecord): string | undefined {
  if (client.accepted === false) return "the token was not accepted";
  if (rejectedBy !== undefined) return "the gateway rejected it by a limit or a plan";
  return lane === "legacy" && alpha.status >= 400 ? "the old service answered with an error" : undefined;
}

/** Returns the call of a record; undefined if the record is not a call of the old API, or contains no request. */
export function observedCall(record: AuditRecord, directory: ClientDirectory): ObservedCall | undefined {
  const { id, alpha, client, requests: count = 1 } = record;
  if (!isClientApi(record) || count === 0 || alpha.path === "") return undefined;
  const { method, path, query, filter } = alpha;
  return {
    id,
    client: clientOf(client, directory),
    ...senderOf(record, directory),
    method,
    path,
    query,
    headers: {},
    filter,
    ...bodyOf(record),
    hasToken: client.fingerprint !== null,
    skipped: skippedFor(record),
    count,
  };
}
