import { type AuditRecord, isTruncated, type RecordedBody, REDACTED } from "../../audit/index.ts";
import { FORM, type Pack, printForm } from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";
import { READ_METHODS } from "../../gateway/index.ts";
import { recordedType } from "./recorded-body.ts";
import { addressVariable, curl, type CurlBody, shellComment } from "./curl.ts";

/** The parts of a record that commands need. */
export interface CurlRecord extends Pick<AuditRecord, "lane" | "bytes" | "v4"> {
  readonly client: Pick<AuditRecord["client"], "fingerprint">;
  readonly alpha: Pick<
    AuditRecord["alpha"],
    "method" | "path" | "query" | "filter" | "route" | "body" | "response"
  >;
}

const GATEWAY = "$GATEWAY";

/** Replaces a secret with the name of its member in angle brackets. */
const nameSecrets = (name: string, value: unknown): unknown => (value === REDACTED ? `<${name}>` : value);

/** A body for a command, with a note for the reader. */
interface RecordedCurlBody {
  readonly body?: CurlBody;
  readonly note?: string;
}

const fromFile = (file: string, why: string): RecordedCurlBody => ({
  body: { file },
  note: `${why}: put it into ${file}`,
});

type Form = Readonly<Record<string, unknown>>;

/** Prints a form whose names are recorded as they were sent. */
const printSentForm = (form: Form): string => printForm(form, "repeat");

/** Returns a form as text. If a form can't contain its names, the body is read from a file instead. */
function formBody(form: Form, print: (form: Form) => string): RecordedCurlBody {
  try {
    return { body: { text: print(form) } };
  } catch {
    return fromFile("body.txt", "no form can have the names of the recorded body");
  }
}

/** Whether a body is a streamed file. */
const isStreamed = (body: RecordedBody): boolean => isObject(body) && isObject(body["streamed"]);

function toCurlBody(body: RecordedBody, type: string, print: (form: Form) => string): RecordedCurlBody {
  const isForm = type === FORM && isObject(body);
  if (isTruncated(body))
    return fromFile(isForm ? "body.txt" : "body.json", "the body was not recorded completely");
  if (isForm) return formBody(body, print);
  return { body: { text: typeof body === "string" ? body : JSON.stringify(body, nameSecrets) } };
}

/**
 * Whether a request had a body that the record lacks. The length is known for the client's own request, which the
 * native proxy forwards unchanged. If no bodies are recorded, it is unknown for other v4 calls.
 */
function missingBody(
  { lane, bytes, alpha }: CurlRecord,
  { method, body }: { readonly method: string; readonly body?: RecordedBody },
  isClientRequest: boolean,
): RecordedCurlBody {
  if (method === "HEAD") return {};
  if (isStreamed(body) || ((isClientRequest || lane === "native") && bytes.in > 0))
    return fromFile("body.bin", "the body and its type were not recorded");
  const isUnknown = !isClientRequest && lane !== "native" && alpha.response === undefined;
  return isUnknown && !READ_METHODS.has(method)
    ? { note: "bodies were not recorded: the command has none" }
    : {};
}

/**
 * Writes the alpha request of a record and its v4 requests as `curl` commands. A comment before a command names the
 * missing parts of the record. Secrets are placeholders, as in the record.
 */
export function recordCurls(
  record: CurlRecord,
  pack: Pack,
): { readonly alpha: string; readonly v4: readonly string[] } {
  const { lane, client, alpha, v4 } = record;
  const { client: clientSide, upstream } = pack.dialect;
  const hasToken = client.fingerprint !== null;
  const toCurl = (
    base: string,
    { credentials, filters }: Pack["dialect"]["client" | "upstream"],
    call: { method: string; path: string; filter: string | null; body?: unknown },
    type = "application/json",
    print = printSentForm,
  ): string => {
    const { method, path, filter } = call;
    const { body, note } =
      call.body === undefined || isStreamed(call.body)
        ? missingBody(record, call, base === GATEWAY)
        : toCurlBody(call.body, type, print);
    const command = curl({
      base,
      method,
      path,
      credentials:
        hasToken || (credentials && "token" in credentials && credentials.token === "setting")
          ? credentials
          : undefined,
      headers: filters?.header === undefined ? {} : { [filters.header]: filter ?? undefined },
      body,
      type,
    });
    return note === undefined ? command : `${shellComment(note)}\n${command}`;
  };
  const path = alpha.query === "" ? alpha.path : `${alpha.path}?${alpha.query}`;
  const route = lane === "native" || alpha.route === null ? undefined : pack.route(alpha.route);
  const { mediaType: v4Type, print = printSentForm } = route?.body?.format ??
    route?.search?.format ?? {
      mediaType: upstream.bodies.media_type,
    };
  const sentType = isTruncated(alpha.body) ? undefined : recordedType(alpha.body, pack);
  const [side, type] =
    lane === "native" ? [upstream, v4Type] : [clientSide, sentType ?? pack.mediaTypes.names[0]];
  return {
    alpha: toCurl(GATEWAY, side, { ...alpha, path }, type),
    v4: v4.map((call) => toCurl(addressVariable(upstream.name), upstream, call, v4Type, print)),
  };
}
