/** Tokens of both dialects: where a request has its token, and how it is spelt there. */
import type { z } from "zod";
import type { ClientCredentialsDefinition, credentialsPlace } from "./credentials-definition.ts";
import { readParameters } from "../paths/query.ts";
import { parameterValues, readBasic } from "./auth-parameters.ts";

/** Where requests of a dialect have their token: one place. */
export type CredentialsPlace = z.infer<typeof credentialsPlace>;

/** One place, or several, in the order in which a token is looked for. */
export type CredentialsPlaces = CredentialsPlace & Pick<ClientCredentialsDefinition, "or">;

/** All places, the first one first; empty for a dialect without tokens. */
export const credentialPlaces = (credentials: CredentialsPlaces | undefined): readonly CredentialsPlace[] =>
  credentials === undefined ? [] : [credentials, ...(credentials.or ?? [])];

/** The names of the headers that may contain a token. A scheme uses `Authorization`. */
export const credentialHeaders = (credentials: CredentialsPlaces | undefined): string[] =>
  credentialPlaces(credentials).flatMap(
    ({ header, scheme, basic }) =>
      header ?? (scheme === undefined && basic === undefined ? [] : "Authorization"),
  );

/** The parts of a request that may have a token. */
export interface TokenCarrier {
  /** All lines of each header by its lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Values of the query parameter with the token. The query does not have them any more. */
  readonly queryTokens?: readonly string[] | undefined;
}

/** A token as a request has it. */
export interface SentToken {
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query parameter with the token; undefined if it is in a header. */
  readonly query: string | undefined;
}

/** The token of a request, or its problem. Undefined without a token. */
export type FoundToken = { readonly token: string } | { readonly problem: string } | undefined;

/** Reads and writes the tokens of one dialect. */
export interface CredentialsFormat {
  read(request: TokenCarrier): FoundToken;
  /** The texts of a request that are its token, or look like one, in any form. */
  texts(request: TokenCarrier): readonly string[];
  /** Whether a token can be sent: it can't become a second cookie, another user or another header. */
  accepts(token: string): boolean;
  write(token: string): SentToken;
  /** Returns the Base64 form of a token in a request, and its parts that are secret; undefined if it has neither. */
  readonly spellings: ((token: string) => readonly string[]) | undefined;
  /** The headers that may have the token; empty if the query has it. */
  readonly headers: readonly string[];
  /** The query parameter that has the token. */
  readonly queryParameter: string | undefined;
}

/** A token of visible ASCII characters, as headers can have it. In characters. */
const VISIBLE = /^[\x21-\x7e]{1,4096}$/;

/** A value of a cookie (RFC 6265, 4.1.1). */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,4096}$/;

/** Any text without control characters: users and passwords have blanks and umlauts. */
const PRINTABLE = /^\P{Cc}{1,4096}$/u;

/** RFC 9110 11.4: a scheme, spaces, and a token of visible characters. */
const AUTHORIZATION = /^([A-Za-z][A-Za-z0-9-]*) +([\x21-\x7e]{1,4096})$/;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The scheme of an `Authorization` header in lower case; undefined where it is missing or malformed. */
export const credentialScheme = (authorization: string | undefined): string | undefined =>
  AUTHORIZATION.exec(authorization ?? "")?.[1]?.toLowerCase();

/** One place of a token, without the common parts of all places. */
interface Place extends Pick<CredentialsFormat, "texts" | "accepts" | "write"> {
  /** Names the place in an error. */
  readonly noun: string;
  /** Returns the token in a text. Undefined if the text has none. */
  readonly decode: (text: string) => string | undefined;
  readonly spellings?: CredentialsFormat["spellings"];
  readonly header?: string;
  readonly queryParameter?: string;
}

const headerPlace = (
  header: string,
  codec: Pick<Place, "decode" | "accepts" | "spellings">,
): Omit<Place, "write"> => {
  const name = header.toLowerCase();
  return { noun: `${header} header`, texts: ({ headers }) => headers[name] ?? [], header, ...codec };
};

const visible = (text: string): string | undefined => (VISIBLE.test(text) ? text : undefined);

function schemePlace(scheme: string): Place {
  const expected = scheme.toLowerCase();
  const decode = (text: string): string | undefined => {
    const [, given, token] = AUTHORIZATION.exec(text) ?? [];
    return given?.toLowerCase() === expected ? token : undefined;
  };
  return {
    ...headerPlace("Authorization", { decode, accepts: (token) => VISIBLE.test(token) }),
    write: (token) => ({ headers: { authorization: `${scheme} ${token}` }, query: undefined }),
  };
}

/** The text after a scheme, and one of its parameters: a name, and a word or a quoted text (RFC 9110, section 11.2). */
const PARAMETERS = /^([A-Za-z][A-Za-z0-9-]*) +([\t\x20-\x7e]{1,4096})$/;

function parameterPlace(scheme: string, parameter: string): Place {
  const [expected, name] = [scheme.toLowerCase(), parameter.toLowerCase()];
  const decode = (text: string): string | undefined => {
    const [, given, parameters = ""] = PARAMETERS.exec(text) ?? [];
    const values = given?.toLowerCase() === expected ? parameterValues(parameters, name) : undefined;
    return values?.length === 1 ? visible(values[0] ?? "") : undefined;
  };
  const quote = (token: string): string => `"${token.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  return {
    ...headerPlace("Authorization", { decode, accepts: (token) => VISIBLE.test(token) }),
    write: (token) => ({
      headers: { authorization: `${scheme} ${parameter}=${quote(token)}` },
      query: undefined,
    }),
  };
}

/** The part of `user:password` that is the token. */
const BASIC_PARTS = {
  username: { partOf: (user: string) => user, pair: (token: string) => `${token}:` },
  password: { partOf: (_user: string, password: string) => password, pair: (token: string) => `:${token}` },
  both: { partOf: (user: string, password: string) => `${user}:${password}`, pair: (token: string) => token },
} as const;

function basicPlace(part: keyof typeof BASIC_PARTS): Place {
  const { partOf, pair } = BASIC_PARTS[part];
  const encode = (token: string): string => Buffer.from(pair(token)).toString("base64");
  const decode = (text: string): string | undefined => {
    const [, scheme, encoded = ""] = AUTHORIZATION.exec(text) ?? [];
    if (scheme?.toLowerCase() !== "basic" || !BASE64.test(encoded)) return undefined;
    const basic = readBasic(encoded);
    const token = basic ? partOf(basic.user, basic.password) : "";
    return PRINTABLE.test(token) ? token : undefined;
  };
  const accepts = (token: string): boolean =>
    PRINTABLE.test(token) && (part === "password" || token.includes(":") === (part === "both"));
  const spellings = (token: string): string[] => {
    const colon = token.indexOf(":");
    return part === "both" && colon >= 0
      ? [encode(token), token.slice(0, colon), token.slice(colon + 1)]
      : [encode(token)];
  };
  return {
    ...headerPlace("Authorization", { decode, accepts, spellings }),
    write: (token) => ({ headers: { authorization: `Basic ${encode(token)}` }, query: undefined }),
  };
}

/** The values of a cookie. A request may have several `Cookie` lines. */
function cookieValues(lines: readonly string[], name: string): string[] {
  return lines
    .flatMap((line) => line.split(";"))
    .flatMap((pair) => {
      const equals = pair.indexOf("=");
      return equals >= 0 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
    });
}

function cookiePlace(name: string): Place {
  return {
    noun: `cookie ${name}`,
    texts: ({ headers }) => cookieValues(headers["cookie"] ?? [], name),
    decode: (text) => visible(text.replace(/^"(.*)"$/, "$1")),
    accepts: (token) => COOKIE_VALUE.test(token),
    write: (token) => ({ headers: { cookie: `${name}=${token}` }, query: undefined }),
    header: "Cookie",
  };
}

function queryPlace(name: string): Place {
  const prefix = `${encodeURIComponent(name)}=`;
  return {
    noun: `parameter ${name}`,
    texts: ({ queryTokens = [] }) => queryTokens,
    decode: (text) => (PRINTABLE.test(text) ? text : undefined),
    accepts: (token) => PRINTABLE.test(token) && token.isWellFormed(),
    write: (token) => ({ headers: {}, query: prefix + encodeURIComponent(token) }),
    queryParameter: name,
  };
}

function placeOf(place: CredentialsPlace): Place | undefined {
  const { scheme, parameter, basic, header, query, cookie } = place;
  if (scheme !== undefined)
    return parameter === undefined ? schemePlace(scheme) : parameterPlace(scheme, parameter);
  if (basic !== undefined) return basicPlace(basic);
  if (query !== undefined) return queryPlace(query);
  if (cookie !== undefined) return cookiePlace(cookie);
  if (header === undefined) return undefined;
  const name = header.toLowerCase();
  return {
    ...headerPlace(header, { decode: visible, accepts: (token) => VISIBLE.test(token) }),
    write: (token) => ({ headers: { [name]: token }, query: undefined }),
  };
}

/** The format of one place. Two tokens in a place are a problem: each server on the way could use another one. */
function createPlaceFormat(place: Place): CredentialsFormat {
  const { noun, texts, decode, accepts, write, spellings } = place;
  return {
    read(request) {
      const found = texts(request);
      if (found.length > 1) return { problem: `There is more than one ${noun}.` };
      const text = found[0]?.trim() ?? "";
      if (text === "") return undefined;
      const token = decode(text);
      return token === undefined ? { problem: `The ${noun} is malformed.` } : { token };
    },
    texts,
    accepts,
    write,
    spellings,
    headers: place.header === undefined ? [] : [place.header],
    queryParameter: place.queryParameter,
  };
}

/** The first place of a request that has a token. One header may have credentials of several schemes. */
function readFirst(places: readonly CredentialsFormat[], request: TokenCarrier): FoundToken {
  for (const place of places) {
    const found = place.read(request);
    if (!found) continue;
    if ("token" in found) return found;
    const sameHeader = places
      .slice(places.indexOf(place) + 1)
      .filter(({ headers }) => headers[0] === place.headers[0]);
    const other = sameHeader.map((each) => each.read(request)).find((each) => each && "token" in each);
    return other ?? found;
  }
  return undefined;
}

/** Creates the reader and writer of a dialect's tokens; undefined for a dialect without tokens. */
export function createCredentialsFormat(
  definition: CredentialsPlaces | undefined,
): CredentialsFormat | undefined {
  const places = credentialPlaces(definition)
    .flatMap((place) => placeOf(place) ?? [])
    .map(createPlaceFormat);
  const [first, ...others] = places;
  if (!first || others.length === 0) return first;
  return {
    ...first,
    read: (request) => readFirst(places, request),
    texts: (request) => [...new Set(places.flatMap(({ texts }) => texts(request)))],
    spellings: (token) => places.flatMap(({ spellings }) => spellings?.(token) ?? []),
    headers: [...new Set(places.flatMap(({ headers }) => headers))],
    queryParameter: places.find(({ queryParameter }) => queryParameter !== undefined)?.queryParameter,
  };
}

/** A query without a parameter, and the values that the parameter had. */
export function takeParameter(
  query: string,
  name: string,
): { readonly query: string; readonly values: readonly string[] } {
  const values: string[] = [];
  const others = query.split("&").filter((pair) => {
    // Escapes in a name may hide it.
    if (!pair.startsWith(name) && !/^[^=]*[%+]/.test(pair)) return true;
    const [found] = readParameters(pair);
    if (found?.[0] !== name) return true;
    values.push(found[1]);
    return false;
  });
  return values.length === 0 ? { query, values } : { query: others.join("&"), values };
}
