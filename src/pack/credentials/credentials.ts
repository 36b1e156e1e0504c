/** Tokens of both dialects: their location in a request, and their spelling. */
import type { z } from "zod";
import type { ClientCredentialsDefinition, credentialsPlace } from "./credentials-definition.ts";
import { readParameters } from "../paths/query.ts";
import { parameterValues, readBasic } from "./auth-parameters.ts";

/** The location of the token in requests of a dialect. */
export type CredentialsPlace = z.infer<typeof credentialsPlace>;

/** The locations of the token, in the order in which they are searched. */
export type CredentialsPlaces = CredentialsPlace & Pick<ClientCredentialsDefinition, "or">;

/** Returns all locations in order; empty for a dialect without tokens. */
export const credentialPlaces = (credentials: CredentialsPlaces | undefined): readonly CredentialsPlace[] =>
  credentials === undefined ? [] : [credentials, ...(credentials.or ?? [])];

/** The names of the headers that may contain a token. A scheme uses `Authorization`. */
export const credentialHeaders = (credentials: CredentialsPlaces | undefined): string[] =>
  credentialPlaces(credentials).flatMap(
    ({ header, scheme, basic }) =>
      header ?? (scheme === undefined && basic === undefined ? [] : "Authorization"),
  );

/** The parts of a request that may contain a token. */
export interface TokenCarrier {
  /** All lines of each header by its lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Values of the query parameter that contains the token. They were removed from the query. */
  readonly queryTokens?: readonly string[] | undefined;
}

/** A token as it is sent in a request. */
export interface SentToken {
  /** The headers to send, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query parameter that contains the token; undefined if a header contains it. */
  readonly query: string | undefined;
}

/** The token of a request, or its problem. Undefined if the request has no token. */
type FoundToken = { readonly token: string } | { readonly problem: string } | undefined;

/** Reads and writes the tokens of one dialect. */
export interface CredentialsFormat {
  read(request: TokenCarrier): FoundToken;
  /** Returns the texts of a request that are its token, or that resemble one, in any form. */
  texts(request: TokenCarrier): readonly string[];
  /** Whether a token can be sent: it can't become a second cookie, another user or another header. */
  accepts(token: string): boolean;
  write(token: string): SentToken;
  /** Returns the Base64 form of a token in a request, and its secret parts; undefined if the format has neither. */
  readonly spellings: ((token: string) => readonly string[]) | undefined;
  /** The headers that may contain the token; empty if the query contains it. */
  readonly headers: readonly string[];
  /** The query parameter that contains the token. */
  readonly queryParameter: string | undefined;
}

/** Matches a token of 1 to 4096 visible ASCII characters, which any header can contain. */
const VISIBLE = /^[\x21-\x7e]{1,4096}$/;

/** Matches a value of a cookie (RFC 6265, 4.1.1). */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,4096}$/;

/** Matches any text without control characters: users and passwords may contain blanks and umlauts. */
const PRINTABLE = /^\P{Cc}{1,4096}$/u;

/**
 * Matches a scheme, and a token or parameters after it (RFC 9110, sections 11.2 and 11.4). The spaces between them are
 * only matched once.
 */
const WITH_SCHEME = /^([A-Za-z][A-Za-z0-9-]*) +(?! )([\t\x20-\x7e]{1,4096})$/;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const visible = (text: string): string | undefined => (VISIBLE.test(text) ? text : undefined);

/** Returns the scheme of an `Authorization` header in lower case; undefined if the header is missing or malformed. */
export function credentialScheme(authorization = ""): string | undefined {
  const [, scheme, token = ""] = WITH_SCHEME.exec(authorization) ?? [];
  return VISIBLE.test(token) ? scheme?.toLowerCase() : undefined;
}

/** Returns the text after a scheme; empty for a different scheme. */
function textAfter(expected: string, text: string): string {
  const [, scheme = "", rest = ""] = WITH_SCHEME.exec(text) ?? [];
  return scheme.toLowerCase() === expected.toLowerCase() ? rest : "";
}

/** A part of a request that consists of a token, or of a text that contains it. */
interface Carrier extends Pick<CredentialsFormat, "texts"> {
  /** The name of the part in an error. */
  readonly noun: string;
  readonly send: (text: string) => SentToken;
  readonly header?: string;
  readonly queryParameter?: string;
}

function headerCarrier(header: string): Carrier {
  const name = header.toLowerCase();
  return {
    noun: `${header} header`,
    texts: ({ headers }) => headers[name] ?? [],
    send: (text) => ({ headers: { [name]: text }, query: undefined }),
    header,
  };
}

/** Creates the carrier of a cookie. A request may have several `Cookie` lines. */
const cookieCarrier = (name: string): Carrier => ({
  noun: `cookie ${name}`,
  texts: ({ headers }) =>
    (headers["cookie"] ?? [])
      .flatMap((line) => line.split(";"))
      .flatMap((pair) => {
        const equals = pair.indexOf("=");
        return equals >= 0 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
      }),
  send: (text) => ({ headers: { cookie: `${name}=${text}` }, query: undefined }),
  header: "Cookie",
});

const queryCarrier = (name: string): Carrier => ({
  noun: `parameter ${name}`,
  texts: ({ queryTokens = [] }) => queryTokens,
  send: (text) => ({ headers: {}, query: `${encodeURIComponent(name)}=${encodeURIComponent(text)}` }),
  queryParameter: name,
});

/** The spelling of a token in a text. */
interface Codec extends Pick<CredentialsFormat, "accepts"> {
  /** Returns the token in a text. Undefined if the text contains none. */
  readonly decode: (text: string) => string | undefined;
  readonly encode: (token: string) => string;
  readonly spellings?: NonNullable<CredentialsFormat["spellings"]>;
}

const acceptsVisible = (token: string): boolean => VISIBLE.test(token);

const PLAIN: Codec = { decode: visible, accepts: acceptsVisible, encode: (token) => token };

const QUOTED_COOKIE: Codec = {
  decode: (text) => visible(text.replace(/^"(.*)"$/, "$1")),
  accepts: (token) => COOKIE_VALUE.test(token),
  encode: (token) => token,
};

const TEXT: Codec = {
  decode: (text) => (PRINTABLE.test(text) ? text : undefined),
  accepts: (token) => PRINTABLE.test(token) && token.isWellFormed(),
  encode: (token) => token,
};

const schemeCodec = (scheme: string): Codec => ({
  decode: (text) => visible(textAfter(scheme, text)),
  accepts: acceptsVisible,
  encode: (token) => `${scheme} ${token}`,
});

/** Creates the codec of a parameter after a scheme: a name, and a word or a quoted text (RFC 9110, section 11.2). */
const parameterCodec = (scheme: string, parameter: string): Codec => ({
  decode(text) {
    const values = parameterValues(textAfter(scheme, text), parameter.toLowerCase());
    return values?.length === 1 ? visible(values[0] ?? "") : undefined;
  },
  accepts: acceptsVisible,
  encode: (token) => `${scheme} ${parameter}="${token.replaceAll(/["\\]/g, String.raw`\$&`)}"`,
});

/** The part of `user:password` that is the token. */
const BASIC_PARTS = {
  username: { partOf: (user: string) => user, pair: (token: string) => `${token}:` },
  password: { partOf: (_user: string, password: string) => password, pair: (token: string) => `:${token}` },
  both: { partOf: (user: string, password: string) => `${user}:${password}`, pair: (token: string) => token },
} as const;

function basicCodec(part: keyof typeof BASIC_PARTS): Codec {
  const { partOf, pair } = BASIC_PARTS[part];
  const encode = (token: string): string => Buffer.from(pair(token)).toString("base64");
  return {
    decode(text) {
      const encoded = textAfter("Basic", text);
      const basic = BASE64.test(encoded) ? readBasic(encoded) : undefined;
      const token = basic ? partOf(basic.user, basic.password) : "";
      return PRINTABLE.test(token) ? token : undefined;
    },
    accepts: (token) =>
      PRINTABLE.test(token) && (part === "password" || token.includes(":") === (part === "both")),
    encode: (token) => `Basic ${encode(token)}`,
    spellings(token) {
      const colon = part === "both" ? token.indexOf(":") : -1;
      return [encode(token), ...(colon < 0 ? [] : [token.slice(0, colon), token.slice(colon + 1)])];
    },
  };
}

/** Returns the carrier and the codec of a token's location; undefined if it has no key. */
function placeOf(place: CredentialsPlace): readonly [Carrier, Codec] | undefined {
  const { scheme, parameter, basic, header, query, cookie } = place;
  const authorization = headerCarrier("Authorization");
  if (scheme !== undefined)
    return [authorization, parameter === undefined ? schemeCodec(scheme) : parameterCodec(scheme, parameter)];
  if (basic !== undefined) return [authorization, basicCodec(basic)];
  if (query !== undefined) return [queryCarrier(query), TEXT];
  if (cookie !== undefined) return [cookieCarrier(cookie), QUOTED_COOKIE];
  return header === undefined ? undefined : [headerCarrier(header), PLAIN];
}

/** Creates the format of one location. Two tokens there are a problem, because two servers could choose different ones. */
function createPlaceFormat([carrier, codec]: readonly [Carrier, Codec]): CredentialsFormat {
  const { noun, texts, send, header, queryParameter } = carrier;
  const { decode, accepts, encode, spellings } = codec;
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
    write: (token) => send(encode(token)),
    spellings,
    headers: header === undefined ? [] : [header],
    queryParameter,
  };
}

/** Returns the first location in a request that contains a token. One header may contain credentials of several schemes. */
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
    .map(placeOf)
    .filter((place) => place !== undefined)
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

/** Returns a query without a parameter, and the removed values of the parameter. */
export function takeParameter(
  query: string,
  name: string,
): { readonly query: string; readonly values: readonly string[] } {
  const values: string[] = [];
  const others = query.split("&").filter((pair) => {
    // The name may be escaped.
    if (!pair.startsWith(name) && !/^[^=]*[%+]/.test(pair)) return true;
    const [found] = readParameters(pair);
    if (found?.[0] !== name) return true;
    values.push(found[1]);
    return false;
  });
  return values.length === 0 ? { query, values } : { query: others.join("&"), values };
}
