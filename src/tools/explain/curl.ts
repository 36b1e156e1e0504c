import type { AuditRecord, RecordedBody } from "../../audit/record.ts";
import { REDACTED } from "../../audit/redact-walk.ts";
import type { Pack } from "../../mapping/pack.ts";
import { isTruncated } from "./recorded.ts";

/** Control characters would act on the terminal. The others change the order in which text is displayed. */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const hasInvisible = (text: string): boolean => text.search(INVISIBLE) >= 0;

const escapeBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");

/** Quotes a text as one argument for a shell (bash, zsh, ksh). */
export function shellQuote(text: string): string {
  if (!hasInvisible(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll(INVISIBLE, escapeBytes)}'`;
}

/** A comment line for a shell. Nothing in the text ends the line. */
export const shellComment = (text: string): string => `# ${text.replaceAll(INVISIBLE, " ")}`;

/** The parts of a `curl` command. */
export interface CurlCommand {
  /** A variable of the shell in front of the path: `$V4`. */
  readonly base: string;
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** The scheme of the credentials; the token is the variable `$TOKEN`. Undefined: no credentials. */
  readonly scheme: string | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** JSON, or `@` and the name of a file. */
  readonly body: string | undefined;
}

/** Writes a request as a command for a shell. */
export function curl({ base, method, path, scheme, headers, body }: CurlCommand): string {
  const sentHeaders = Object.entries(headers).filter(([, value]) => value !== undefined);
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"${base}"${shellQuote(path)}`,
    ...(scheme === undefined ? [] : [`-H "Authorization: ${scheme} $TOKEN"`]),
    ...sentHeaders.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellQuote(body)}`]),
  ];
  return parts.join(" \\\n     ");
}

/** The requests of a record as commands. Secrets are placeholders, as in the record. */
export interface RecordCurls {
  readonly alpha: string;
  readonly v4: readonly string[];
}

/** Replaces a secret with the name of its member in angle brackets. */
const nameSecrets = (name: string, value: unknown): unknown => (value === REDACTED ? `<${name}>` : value);

function toArgument(body: RecordedBody): string | undefined {
  if (body === undefined) return undefined;
  if (isTruncated(body)) return "@body.json";
  return typeof body === "string" ? body : JSON.stringify(body, nameSecrets);
}

/** Writes the alpha request of a record and its v4 requests as `curl` commands. */
export function recordCurls({ lane, client, alpha, v4 }: AuditRecord, pack: Pack): RecordCurls {
  const { client: clientSide, upstream } = pack.dialect;
  const hasToken = client.fingerprint !== null;
  const toCurl = (
    base: string,
    { credentials, filters }: Pack["dialect"]["client" | "upstream"],
    { method, path, filter, body }: { method: string; path: string; filter: string | null; body?: unknown },
  ): string =>
    curl({
      base,
      method,
      path,
      scheme: hasToken ? credentials?.scheme : undefined,
      headers: filters ? { [filters.header]: filter ?? undefined } : {},
      body: toArgument(body),
    });
  const path = alpha.query === "" ? alpha.path : `${alpha.path}?${alpha.query}`;
  const side = lane === "native" ? upstream : clientSide;
  return {
    alpha: toCurl("$GATEWAY", side, { ...alpha, path }),
    v4: v4.map((call) => toCurl("$V4", upstream, call)),
  };
}
