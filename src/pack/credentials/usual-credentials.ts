/** The location of tokens in the requests of most APIs, for an undescribed API. */
import { readBasic } from "./auth-parameters.ts";
import { readParameters } from "../paths/query.ts";

/** Names of headers and query parameters that usually contain the token of a client, in lower case and without punctuation. */
const TOKEN_NAMES = new Set([
  "apikey",
  "apitoken",
  "accesstoken",
  "authtoken",
  "authkey",
  "privatetoken",
  "token",
]);

/** Whether a name is that of a token. `X-API-Key`, `apiKey` and `api_key` are the same name. */
const isTokenName = (name: string): boolean =>
  TOKEN_NAMES.has(
    name
      .toLowerCase()
      .replaceAll(/[^a-z]/g, "")
      .replace(/^x(?=api|acc|auth|tok)/, ""),
  );

/** The name of a parameter whose value may be a token, or any other key. */
const KEY_PARAMETER = "key";
/** Matches a value that looks generated: at least 16 characters, including a letter and a digit. */
const TOKEN_LIKE = /^(?=[^\d]*\d)(?=[^a-z]*[a-z])[\w.~+/=-]{16,}$/i;

interface Sent {
  /** All lines of each header by its lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Without the question mark. */
  readonly query: string;
}

/**
 * Returns the token of Basic credentials: the user or the password if the other one is empty, as in services with keys,
 * otherwise both.
 */
function basicToken(encoded: string): string {
  const basic = readBasic(encoded);
  if (!basic) return encoded;
  const { decoded, user, password } = basic;
  if (password === "") return user;
  return user === "" ? password : decoded;
}

/** Matches a scheme and the text after it. A pair of a cookie has no scheme. */
const WITH_SCHEME = /^([^\s=,;"]+) +(.+)$/;

/** Returns the secrets after the scheme of a header with credentials: the whole text, and the password of Basic credentials. */
export function secretsBehindScheme(line: string): string[] {
  const [, scheme = "", credentials = ""] = WITH_SCHEME.exec(line.trim()) ?? [];
  if (credentials === "") return [];
  const password = scheme.toLowerCase() === "basic" ? readBasic(credentials)?.password : undefined;
  return password === undefined ? [credentials] : [credentials, password];
}

function authorizationToken(line: string): string {
  const [scheme = "", ...rest] = line.trim().split(/ +/);
  const token = rest.join(" ");
  if (token === "") return scheme;
  return scheme.toLowerCase() === "basic" ? basicToken(token) : token;
}

/** Returns the values of all headers whose name is that of a token. */
const tokenHeaders = ({ headers }: Sent): string[] =>
  Object.entries(headers).flatMap(([name, lines = []]) =>
    isTokenName(name) ? lines.map((line) => line.trim()).filter((line) => line !== "") : [],
  );

/** Returns the values of all parameters that may contain a token. Those with the name of a token come first. */
function tokenParameters({ query }: Sent): string[] {
  if (query === "") return [];
  const parameters = [...readParameters(query)];
  const named = parameters.filter(([name, value]) => value !== "" && isTokenName(name));
  const keys = parameters.filter(([name, value]) => name === KEY_PARAMETER && TOKEN_LIKE.test(value));
  return [...named, ...keys].map(([, value]) => value);
}

/** Returns the token of a request; undefined if not found. */
export function findUsualToken(request: Sent): string | undefined {
  const authorization = request.headers["authorization"]?.[0] ?? "";
  if (authorization.trim() !== "") return authorizationToken(authorization);
  return tokenHeaders(request)[0] ?? tokenParameters(request)[0];
}

/** Returns all texts of a request that may be its token, so that records can omit them. */
export const usualTokenTexts = (request: Sent): string[] => [
  ...(request.headers["authorization"] ?? []).flatMap((line) => [
    authorizationToken(line),
    line.trim().replace(/^\S+ +/, ""),
    ...secretsBehindScheme(line),
  ]),
  ...tokenHeaders(request),
  ...tokenParameters(request),
];
