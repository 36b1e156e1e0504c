/** Where requests of most APIs have their token. For an API that nobody has described. */
import { readBasic } from "./auth-parameters.ts";
import { readParameters } from "../paths/query.ts";

/** Names of headers and of query parameters that have the token of a client: in lower case, without signs. */
const TOKEN_NAMES = new Set([
  "apikey",
  "apitoken",
  "accesstoken",
  "authtoken",
  "authkey",
  "privatetoken",
  "token",
]);

/** `X-API-Key`, `apiKey` and `api_key` are one name. */
const isTokenName = (name: string): boolean =>
  TOKEN_NAMES.has(
    name
      .toLowerCase()
      .replaceAll(/[^a-z]/g, "")
      .replace(/^x(?=api|acc|auth|tok)/, ""),
  );

/** A name of a parameter whose value may be a token, or the key of anything else. */
const KEY_PARAMETER = "key";
/** A value that nobody would choose for a key: at least 16 characters, of them a letter and a digit. */
const TOKEN_LIKE = /^(?=[^\d]*\d)(?=[^a-z]*[a-z])[\w.~+/=-]{16,}$/i;

interface Sent {
  /** All lines of each header by its lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Without the question mark. */
  readonly query: string;
}

/**
 * The token of Basic credentials: the user or the password where the other one is empty, as services with keys
 * have it, else both.
 */
function basicToken(encoded: string): string {
  const basic = readBasic(encoded);
  if (!basic) return encoded;
  const { decoded, user, password } = basic;
  if (password === "") return user;
  return user === "" ? password : decoded;
}

/** A scheme and the text after it. A pair of a cookie has no scheme. */
const WITH_SCHEME = /^([^\s=,;"]+) +(.+)$/;

/** The secrets behind the scheme of a header with credentials: all of it, and the password of Basic. */
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

/** The values of all headers with such a name. */
const tokenHeaders = ({ headers }: Sent): string[] =>
  Object.entries(headers).flatMap(([name, lines = []]) =>
    isTokenName(name) ? lines.map((line) => line.trim()).filter((line) => line !== "") : [],
  );

/** The values of all such parameters, those with a name of a token first. */
function tokenParameters({ query }: Sent): string[] {
  if (query === "") return [];
  const parameters = [...readParameters(query)];
  const named = parameters.filter(([name, value]) => value !== "" && isTokenName(name));
  const keys = parameters.filter(([name, value]) => name === KEY_PARAMETER && TOKEN_LIKE.test(value));
  return [...named, ...keys].map(([, value]) => value);
}

/** Returns the token of a request; undefined without one. */
export function findUsualToken(request: Sent): string | undefined {
  const authorization = request.headers["authorization"]?.[0] ?? "";
  if (authorization.trim() !== "") return authorizationToken(authorization);
  return tokenHeaders(request)[0] ?? tokenParameters(request)[0];
}

/** All texts of a request that may be its token, wherever they are, so that no record has them. */
export const usualTokenTexts = (request: Sent): string[] => [
  ...(request.headers["authorization"] ?? []).flatMap((line) => [
    authorizationToken(line),
    line.trim().replace(/^\S+ +/, ""),
    ...secretsBehindScheme(line),
  ]),
  ...tokenHeaders(request),
  ...tokenParameters(request),
];
