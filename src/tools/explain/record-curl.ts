import type { AuditRecord, RecordedBody } from "../../audit/record.ts";
import { REDACTED } from "../../audit/redact-walk.ts";
import type { Pack } from "../../mapping/pack.ts";
import { curl } from "./curl.ts";
import { isTruncated } from "./recorded.ts";

/** A record's calls, to be typed again. Secrets are placeholders: the record has none. */
export interface RecordCurls {
  readonly alpha: string;
  readonly v4: readonly string[];
}

/** A secret becomes the name of its member in brackets. */
const nameSecrets = (name: string, value: unknown): unknown => (value === REDACTED ? `<${name}>` : value);

function typed(body: RecordedBody): string | undefined {
  if (body === undefined) return undefined;
  if (isTruncated(body)) return "@body.json";
  return typeof body === "string" ? body : JSON.stringify(body, nameSecrets);
}

/** Writes what a client asked, and what was asked of v4 for it, as `curl`. */
export function recordCurls({ lane, client, alpha, v4 }: AuditRecord, pack: Pack): RecordCurls {
  const { dialect } = pack;
  const filterHeader = dialect.filter.header;
  const known = client.fingerprint !== null;
  const call = (
    base: string,
    scheme: string,
    { method, path, filter, body }: { method: string; path: string; filter: string | null; body?: unknown },
  ): string =>
    curl({
      base,
      method,
      path,
      scheme: known ? scheme : undefined,
      headers: { [filterHeader]: filter ?? undefined },
      body: typed(body),
    });
  const path = alpha.query === "" ? alpha.path : `${alpha.path}?${alpha.query}`;
  const scheme = lane === "native" ? dialect.v4.scheme : dialect.alpha.scheme;
  return {
    alpha: call("$GATEWAY", scheme, { ...alpha, path }),
    v4: v4.map((each) => call("$V4", dialect.v4.scheme, each)),
  };
}
