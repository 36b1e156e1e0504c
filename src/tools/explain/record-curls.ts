import type { AuditRecord, RecordedBody } from "../../audit/record.ts";
import { REDACTED } from "../../audit/secret-values.ts";
import { printForm } from "../../dialect/form.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { FORM } from "../../mapping/compile/body-format.ts";
import type { Pack } from "../../mapping/pack.ts";
import { curl, type CurlBody } from "./curl.ts";
import { isTruncated } from "../../audit/truncate.ts";
import { addressVariable } from "./shell.ts";

/** The requests of a record as commands. Secrets are placeholders, as in the record. */
export interface RecordCurls {
  readonly alpha: string;
  readonly v4: readonly string[];
}

/** Replaces a secret with the name of its member in angle brackets. */
const nameSecrets = (name: string, value: unknown): unknown => (value === REDACTED ? `<${name}>` : value);

/** A form as text. One whose names no form can have is left to a file. */
function formBody(body: Readonly<Record<string, unknown>>): CurlBody {
  try {
    return { text: printForm(body, "repeat") };
  } catch {
    return { file: "body.txt" };
  }
}

function toCurlBody(body: RecordedBody, type: string): CurlBody | undefined {
  if (body === undefined) return undefined;
  const isForm = type === FORM && isObject(body);
  if (isTruncated(body)) return { file: isForm ? "body.txt" : "body.json" };
  if (isForm) return formBody(body);
  return { text: typeof body === "string" ? body : JSON.stringify(body, nameSecrets) };
}

/** Writes the alpha request of a record and its v4 requests as `curl` commands. */
export function recordCurls({ lane, client, alpha, v4 }: AuditRecord, pack: Pack): RecordCurls {
  const { client: clientSide, upstream } = pack.dialect;
  const hasToken = client.fingerprint !== null;
  const toCurl = (
    base: string,
    { credentials, filters }: Pack["dialect"]["client" | "upstream"],
    { method, path, filter, body }: { method: string; path: string; filter: string | null; body?: unknown },
    type = "application/json",
  ): string =>
    curl({
      base,
      method,
      path,
      credentials:
        hasToken || (credentials && "token" in credentials && credentials.token === "setting")
          ? credentials
          : undefined,
      headers: filters?.header === undefined ? {} : { [filters.header]: filter ?? undefined },
      body: toCurlBody(body, type),
      type,
    });
  const path = alpha.query === "" ? alpha.path : `${alpha.path}?${alpha.query}`;
  const side = lane === "native" ? upstream : clientSide;
  return {
    alpha: toCurl("$GATEWAY", side, { ...alpha, path }, pack.mediaTypes.names[0]),
    v4: v4.map((call) => toCurl(addressVariable(upstream.name), upstream, call, upstream.bodies.media_type)),
  };
}
