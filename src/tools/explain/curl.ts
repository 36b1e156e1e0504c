import type { AuditRecord, RecordedBody } from "../../audit/record.ts";
import { REDACTED } from "../../audit/secret-values.ts";
import type { CredentialsPlace } from "../../dialect/credentials.ts";
import { printForm } from "../../dialect/form.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { FORM } from "../../mapping/compile/body-format.ts";
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

/** The variable of a shell with the address of an upstream: `$V4`, `$NEW_SHOP`. @param name as in the pack */
export const addressVariable = (name: string): string =>
  `$${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`;

/** The parts of a `curl` command. */
export interface CurlCommand {
  /** A variable of the shell in front of the path: `$V4`. */
  readonly base: string;
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Where the token is, which is the variable `$TOKEN`. Undefined: no token. */
  readonly credentials: CredentialsPlace | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** A text, or `@` and the name of a file. */
  readonly body: string | undefined;
  /** The media type of the body. Default: JSON. */
  readonly type?: string | undefined;
}

/** The options that send a token which is not in the query. The shell fills it in. */
function tokenOptions({ scheme, basic, header, cookie }: CredentialsPlace): string[] {
  if (scheme !== undefined) return [`-H "Authorization: ${scheme} $TOKEN"`];
  if (header !== undefined) return [`-H "${header}: $TOKEN"`];
  if (cookie !== undefined) return [`-b "${cookie}=$TOKEN"`];
  if (basic === undefined) return [];
  return [{ username: '-u "$TOKEN:"', password: '-u ":$TOKEN"', both: '-u "$TOKEN"' }[basic]];
}

/** The token as a parameter of a query; empty if it is not there. */
const tokenParameter = (path: string, { query }: CredentialsPlace): string =>
  query === undefined ? "" : `"${path.includes("?") ? "&" : "?"}${encodeURIComponent(query)}=$TOKEN"`;

/** Writes a request as a command for a shell. */
export function curl({
  base,
  method,
  path,
  credentials = {},
  headers,
  body,
  type = "application/json",
}: CurlCommand): string {
  const sentHeaders = Object.entries(headers).filter(([, value]) => value !== undefined);
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"${base}"${shellQuote(path)}${tokenParameter(path, credentials)}`,
    ...tokenOptions(credentials),
    ...sentHeaders.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-H ${shellQuote(`Content-Type: ${type}`)}`, `-d ${shellQuote(body)}`]),
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

/** A form as text. One whose names no form can have is left to a file. */
function formArgument(body: Readonly<Record<string, unknown>>): string {
  try {
    return printForm(body, "repeat");
  } catch {
    return "@body.txt";
  }
}

function toArgument(body: RecordedBody, type: string): string | undefined {
  if (body === undefined) return undefined;
  const isForm = type === FORM && isObject(body);
  if (isTruncated(body)) return isForm ? "@body.txt" : "@body.json";
  if (isForm) return formArgument(body);
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
      body: toArgument(body, type),
      type,
    });
  const path = alpha.query === "" ? alpha.path : `${alpha.path}?${alpha.query}`;
  const side = lane === "native" ? upstream : clientSide;
  return {
    alpha: toCurl("$GATEWAY", side, { ...alpha, path }, pack.mediaTypes.names[0]),
    v4: v4.map((call) => toCurl(addressVariable(upstream.name), upstream, call, upstream.bodies.media_type)),
  };
}
