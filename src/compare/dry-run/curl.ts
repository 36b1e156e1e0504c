/** Writes requests as `curl` commands. Both the shell and `curl` interpret their arguments, so texts are quoted for both. */
import type { CredentialsPlace } from "../../pack/index.ts";
import { INVISIBLE } from "../../base/index.ts";

/** A body as a text, or the name of a file that contains it. */
export type CurlBody = { readonly text: string } | { readonly file: string };

/** The parts of a `curl` command. */
export interface CurlCommand {
  /** The text before the path: a variable of the shell, `$V4`, or an address, `http://127.0.0.1:8080`. */
  readonly base: string;
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** The location of the token. Undefined: there is no token. */
  readonly credentials: CredentialsPlace | undefined;
  /** The token. Default: the variable `$TOKEN`. */
  readonly token?: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: CurlBody | undefined;
  /** The media type of the body. Default: JSON. */
  readonly type?: string | undefined;
}

/** Writes the token between two texts, as one argument. */
const tokenArgument = (token: string | undefined, before: string, after = ""): string =>
  token === undefined ? shellQuoteAround(before, "$TOKEN", after) : shellQuote(before + token + after);

/** Returns the options that send a token which is not in the query. */
function tokenOptions(
  { scheme, basic, header, cookie }: CredentialsPlace,
  token: string | undefined,
): string[] {
  if (scheme !== undefined) return [`-H ${tokenArgument(token, `Authorization: ${scheme} `)}`];
  if (header !== undefined) return [`-H ${tokenArgument(token, `${header}: `)}`];
  if (cookie !== undefined) return [`-b ${tokenArgument(token, `${cookie}=`)}`];
  if (basic === undefined) return [];
  const [before, after] = { username: ["", ":"], password: [":", ""], both: ["", ""] }[basic];
  return [`-u ${tokenArgument(token, before ?? "", after)}`];
}

/** Returns the token as a parameter of a query; empty if the query does not contain it. */
const tokenParameter = (path: string, { query }: CredentialsPlace, token: string | undefined): string =>
  query === undefined
    ? ""
    : tokenArgument(token, `${path.includes("?") ? "&" : "?"}${encodeURIComponent(query)}=`);

/** Characters that end a URL, or that `curl` does not accept in one. */
// eslint-disable-next-line no-control-regex
const NOT_IN_URL = /[\0-\x20#\x7f]/g;

/** Characters that no header has (RFC 9110, section 5.5). A line break would begin another header. */
// eslint-disable-next-line no-control-regex
const NOT_IN_HEADER = /[\0-\x08\x0a-\x1f\x7f]/;

/** Segments that `curl` removes, unless an option keeps the path unchanged. */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\?]|$)/i;

/** Writes a header, even an empty one: `curl` would omit `Name:`. */
const headerArgument = (name: string, value: string): string =>
  shellQuote(value.trim() === "" ? `${name};` : `${name}: ${value}`);

/** Writes the body. `--data-raw` does not interpret `@` as the name of a file. No argument can contain a NUL. */
function bodyOption(body: CurlBody): string {
  if ("file" in body) return `--data-binary @${body.file}`;
  return body.text.includes("\0") ? "--data-binary @body.bin" : `--data-raw ${shellQuote(body.text)}`;
}

/** Returns the options for the method. `curl` waits for a body after `-X HEAD`, and sends a POST if there is a body. */
function methodOptions(method: string, hasBody: boolean): string[] {
  if (method === "HEAD") return ["--head"];
  return method === "GET" && !hasBody ? [] : [`-X ${shellWord(method)}`];
}

/** Returns why a request can't be written as a command; undefined if it can. */
function findObstacle({ path, headers }: CurlCommand): string | undefined {
  // After an address, it would be the end of a host name.
  if (!path.startsWith("/")) return `the target ${JSON.stringify(path)} is not a path`;
  const name = Object.keys(headers).find((header) => NOT_IN_HEADER.test(headers[header] ?? ""));
  return name === undefined ? undefined : `the header ${name} has a control character`;
}

/**
 * Writes a request as a shell command. The command only sends one request to its address, regardless of the texts.
 *
 * @param separator between the arguments. Default: one argument per line
 */
export function curl(command: CurlCommand, separator = " \\\n     "): string {
  const obstacle = findObstacle(command);
  if (obstacle !== undefined) return shellComment(`no command: ${obstacle}`);
  const { base, method, path, credentials = {}, token, headers, type = "application/json" } = command;
  const body = method === "HEAD" ? undefined : command.body;
  const sentHeaders = Object.entries(headers).filter(([, value]) => value !== undefined);
  const target = path.replaceAll(NOT_IN_URL, encodeURIComponent);
  const address = base.startsWith("$") ? `"${base}"${shellQuote(target)}` : shellQuote(base + target);
  return [
    [
      // Without `-g`, `[1-3]` in a path would result in three requests.
      "curl -g",
      ...(DOT_SEGMENT.test(path.split("?", 1)[0] ?? "") ? ["--path-as-is"] : []),
      ...methodOptions(method, body !== undefined),
      address + tokenParameter(path, credentials, token),
    ].join(" "),
    ...tokenOptions(credentials, token),
    ...sentHeaders.map(([name, value = ""]) => `-H ${headerArgument(name, value)}`),
    ...(body === undefined ? [] : [`-H ${headerArgument("Content-Type", type)}`, bodyOption(body)]),
  ].join(separator);
}

const hasInvisible = (text: string): boolean => text.search(INVISIBLE) >= 0;

/** Octal escapes, because they have the same three digits in all shells. */
const escapeBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/**
 * Quotes a text without NUL as one argument for a shell (bash, zsh, ksh). A shell that does not support `$'…'` gets a
 * different argument, but never a command: there is no quotation mark inside it.
 */
export function shellQuote(text: string): string {
  if (!hasInvisible(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, escapeBytes).replaceAll(INVISIBLE, escapeBytes)}'`;
}

/** Quotes a text like {@link shellQuote}, unless it only contains letters, digits and some punctuation. */
export const shellWord = (text: string): string => (/^[\w./-]+$/.test(text) ? text : shellQuote(text));

/** Matches texts whose characters have no meaning inside double quotes. */
const PLAIN = /^[\w .:;,=&?/@%+-]*$/;

/** Quotes texts around a variable of the shell as one argument. @param variable `$TOKEN` */
function shellQuoteAround(before: string, variable: string, after = ""): string {
  if (PLAIN.test(before + after)) return `"${before}${variable}${after}"`;
  return [before, after].map((text) => (text === "" ? "" : shellQuote(text))).join(`"${variable}"`);
}

/** Writes a comment line for a shell. The text can't end the line. */
export const shellComment = (text: string): string => `# ${text.replaceAll(INVISIBLE, " ")}`;

/** Returns the shell variable for the address of an upstream: `$V4`, `$NEW_SHOP`. @param name the name in the pack */
export const addressVariable = (name: string): string =>
  `$${name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_")}`;
