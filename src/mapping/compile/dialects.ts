/** What a pack says about both dialects as a whole, compiled. */
import { STATUS_CODES } from "node:http";
import {
  createCredentialsFormat,
  credentialPlaces,
  type CredentialsFormat,
  type CredentialsPlace,
} from "../../dialect/credentials.ts";
import { createErrorCodes, type ErrorCodes } from "../../dialect/error-codes.ts";
import { createErrorFormat, type ErrorFormat } from "../../dialect/errors.ts";
import { createListParser, LIST_VALUES, type ParseListBody } from "../../dialect/envelope.ts";
import { createFilterWriter, type FilterWriter } from "../../dialect/filter/filter-writer.ts";
import type { Grammar } from "../../dialect/filter/grammar.ts";
import { compileClientPaths, type ClientPaths } from "./client-paths.ts";
import { compileMediaTypes, type ClientMediaTypes } from "./body-format.ts";
import { namesIn, type Shape } from "../../dialect/shape.ts";
import { createRateLimitHeaders, type RateLimitHeaders } from "../../dialect/rate-limit-headers.ts";
import type { ErrorSummary } from "../../dialect/http-error.ts";
import { createStatuses, type Statuses } from "../../dialect/statuses.ts";
import type { SourceLocation } from "../load/source-location.ts";
import { checkCommonHeaders, checkRateLimitHeaders } from "./headers.ts";
import { checkVersionPlace, compileVersion, type CheckVersion } from "./versions.ts";
import { suggestionFor } from "../load/suggest.ts";
import type { DialectDefinition, ErrorsDefinition } from "../schema/pack-definition.ts";
import { compileGrammar } from "./filters.ts";
import { compilePaging, type Paging } from "./paging.ts";

/** The compiled dialects of a pack. */
export interface Dialects extends ClientPaths {
  readonly statuses: Statuses;
  readonly errorCodes: ErrorCodes;
  /** What errors about a request that breaks a rule say as a whole; undefined for their reasons. */
  readonly validationSummary: ErrorSummary | undefined;
  /** Where each dialect has its tokens; undefined for a dialect without tokens. */
  readonly credentials: {
    readonly client: CredentialsFormat | undefined;
    readonly upstream: CredentialsFormat | undefined;
  };
  /** The names of secret values (`secrets` of the pack), with those under which requests have their tokens. */
  readonly secretNames: readonly string[];
  /**
   * The scheme of requests in the upstream's own dialect, which are forwarded without translation. Undefined if the
   * `Authorization` header does not distinguish them, and if the upstream's tokens are the gateway's own.
   */
  readonly nativeScheme: string | undefined;
  /** Checks the version that a request asks for; undefined if the pack serves any. */
  readonly checkVersion: CheckVersion | undefined;
  /** Headers of all upstream requests, with lower-case names; undefined if the pack names none. */
  readonly upstreamHeaders: Readonly<Record<string, string>> | undefined;
  /** The media types of the client's responses. */
  readonly responseTypes: { readonly success: string; readonly error: string };
  readonly errors: { readonly client: ErrorFormat; readonly upstream: ErrorFormat };
  /** The media types of the client's bodies. */
  readonly mediaTypes: ClientMediaTypes;
  /** Where each dialect has the status of its rate limits. */
  readonly rateLimitHeaders: { readonly client: RateLimitHeaders; readonly upstream: RateLimitHeaders };
  /** Without filters of the client it has no operators. */
  readonly grammar: Grammar;
  /** Writes filters of the upstream, also those of the pack alone. */
  readonly filterWriter: FilterWriter;
  readonly paging: Paging;
  /** The shapes of lists. */
  readonly lists: { readonly client: Shape; readonly upstream: Shape };
  /** Parses the upstream's lists. */
  readonly parseList: ParseListBody;
}

function nativeSchemeOf({ client, upstream }: DialectDefinition): string | undefined {
  const { scheme: native, token } = upstream.credentials ?? {};
  const schemes = credentialPlaces(client.credentials).map(
    ({ scheme, basic }) => scheme ?? (basic && "Basic"),
  );
  if (schemes.length === 0 || token !== "client") return undefined;
  const isDistinct = schemes.every(
    (scheme) => scheme !== undefined && scheme.toLowerCase() !== native?.toLowerCase(),
  );
  return isDistinct ? native : undefined;
}

/** Clients send tokens in the wrong place. There they are secret as well, under any spelling of their name. */
function secretNamesOf({ client, upstream, secrets }: DialectDefinition): readonly string[] {
  const places = [client.credentials, upstream.credentials].flatMap(credentialPlaces);
  if (places.length === 0) return secrets;
  const names = places.flatMap(({ header, query, cookie }) => [header, query, cookie]);
  // Asterisks and brackets mean something in `secrets`.
  const plain = names.flatMap((name) => name?.replaceAll("*", "").replace(/\[\]$/, "") ?? []);
  return [...secrets, "authorization", ...plain];
}

function compileFixedHeaders({ upstream }: DialectDefinition): Dialects["upstreamHeaders"] {
  const { headers = {}, version: { header, value, media_type: type } = {} } = upstream;
  const all = [
    ...Object.entries(headers),
    ...(header === undefined || value === undefined ? [] : [[header, value] as const]),
    ...(type === undefined ? [] : [["accept", type] as const]),
  ];
  return all.length === 0
    ? undefined
    : Object.fromEntries(all.map(([name, text]) => [name.toLowerCase(), text]));
}

/** Reports further places that say the same as another one, and more than one in the query. */
function checkFurtherPlaces({ client }: DialectDefinition, location: SourceLocation): void {
  const places = credentialPlaces(client.credentials);
  const nameOf = ({ scheme, basic, header, query, cookie }: CredentialsPlace): string =>
    [scheme?.toLowerCase() ?? (basic && "basic"), header?.toLowerCase(), query && "query", cookie].join(" ");
  for (const [index, place] of places.slice(1).entries()) {
    const at = location.at("client", "credentials", "or", index);
    reportPlace(place, at);
    if (places.slice(0, index + 1).some((other) => nameOf(other) === nameOf(place)))
      at.report(
        place.query === undefined
          ? "this place is there twice"
          : "a token is in one parameter of the query at most",
      );
  }
}

const PLACES = ["scheme", "basic", "header", "query", "cookie"] as const;

/** Reports a place that is none, or several. */
function reportPlace(place: CredentialsPlace, location: SourceLocation): void {
  const found = PLACES.filter((key) => place[key] !== undefined);
  if (found.length === 0)
    location.report({ message: "the place of the token is missing", hint: `one of ${PLACES.join(", ")}` });
  if (found.length > 1)
    location.report({
      message: `a token is in one place, not in ${found.join(" and ")}`,
      hint: "remove all but one, or write those that clients may use as well under or:",
    });
}

/** Reports credentials without a place, with several, and a token that no client can have. */
function checkCredentials(definition: DialectDefinition, location: SourceLocation): void {
  const { client, upstream, oauth } = definition;
  for (const side of ["client", "upstream"] as const) {
    const { credentials } = definition[side];
    if (credentials) reportPlace(credentials, location.at(side, "credentials"));
  }
  checkFurtherPlaces(definition, location);
  const { realm } = client.credentials ?? {};
  if (
    realm !== undefined &&
    credentialPlaces(client.credentials).every(({ scheme, basic }) => (scheme ?? basic) === undefined)
  )
    location
      .at("client", "credentials", "realm")
      .report('a challenge needs an authentication scheme: "scheme" or "basic"');
  const { token = "client" } = upstream.credentials ?? {};
  const at = location.at("upstream", "credentials");
  const isUnknown = location.at("client").isRemoved("credentials");
  if (upstream.credentials && !client.credentials && !isUnknown && token !== "setting")
    at.report({
      message: "clients have no token that could be sent or looked up",
      hint: "add credentials to client, or send a fixed token: token: setting",
    });
  if (oauth && token !== "client")
    at.at("token").report('with "oauth" clients have tokens of their own, so that token must be "client"');
}

/** The shapes of a dialect that writes none. */
const DEFAULT_LIST: Shape = "$items";
const DEFAULT_ERROR: Shape = { message: "$message" };

const LIST_NAMES = ["items", "list", ...LIST_VALUES];
const ERROR_NAMES = ["message", "field", "pointer", "code", "status", "title", "name"];

/** Reports names that a shape can't have, and a name that it needs. */
function checkShape(
  shape: Shape,
  names: readonly string[],
  required: string,
  location: SourceLocation,
): void {
  const places = namesIn(shape);
  const found = places.map(({ name }) => name);
  for (const name of found.filter((each) => !names.includes(each)))
    location.report({
      message: `unknown name "$${name}"`,
      hint: suggestionFor(
        `$${name}`,
        names.map((each) => `$${each}`),
      ),
    });
  if (!found.includes(required)) location.report(`"$${required}" is missing`);
  // Errors have their problems in an array, and may have texts in several places.
  const itemPlaces = places.filter(({ name }) => name === required && required !== "message");
  if (itemPlaces.length > 1) location.report(`"$${required}" is there ${itemPlaces.length} times`);
  if (itemPlaces.some(({ path }) => path.includes("[]")))
    location.report({ message: `"$${required}" is inside of an array`, hint: "remove the brackets" });
}

/** Reports texts and codes of errors that the client's shape has no place for. */
function checkValidation({ validation }: ErrorsDefinition, shape: Shape, location: SourceLocation): void {
  const names = namesIn(shape);
  const at = location.at("errors", "validation");
  if (validation?.codes && !names.some(({ name }) => name === "code"))
    at.at("codes").report('"codes" has no effect: the errors of clients have no $code ("responses.error")');
  const isBesideList =
    names.some(({ path }) => path.includes("[]")) &&
    names.some(({ name, path }) => name === "message" && !path.includes("[]"));
  if (validation?.message !== undefined && !isBesideList)
    at.at("message").report('"message" needs $message beside an array with the problems ("responses.error")');
}

/** A list of the upstream may have this many times the rows of its largest page. A longer one is invalid, and costs too much. */
const MAX_PAGES_IN_ONE = 10;

/** The phrase of a status; of one that has none, that of its class (RFC 9110, section 15). */
const phraseOf = (status: number): string | undefined =>
  STATUS_CODES[status] ?? STATUS_CODES[Math.floor(status / 100) * 100];

/** Compiles what a pack says about both dialects as a whole. */
export function compileDialects(definition: DialectDefinition, location: SourceLocation): Dialects {
  const { client, upstream, errors } = definition;
  const shapes = [client, upstream].map(({ responses: { list = DEFAULT_LIST, error = DEFAULT_ERROR } }) => ({
    list,
    error,
  }));
  const [clientShapes, upstreamShapes] = [shapes[0], shapes[1]];
  for (const [side, shape] of [
    ["client", clientShapes],
    ["upstream", upstreamShapes],
  ] as const) {
    const at = location.at(side, "responses");
    checkShape(shape?.list, LIST_NAMES, "items", at.at("list"));
    checkShape(shape?.error, ERROR_NAMES, "message", at.at("error"));
    for (const key of ["object", "item"] as const) {
      const wrapper = definition[side].responses[key];
      if (wrapper !== undefined) checkShape(wrapper, ["object", "name"], "object", at.at(key));
    }
  }
  checkCredentials(definition, location);
  checkCommonHeaders(definition, location);
  checkRateLimitHeaders(definition, location);
  checkVersionPlace(client.version, location.at("client", "version"));
  checkVersionPlace(upstream.version, location.at("upstream", "version"));
  const mediaType = client.version?.media_type ?? "application/json";
  const lists = { client: clientShapes?.list, upstream: upstreamShapes?.list };
  const paging = compilePaging(definition, lists, location);
  const statuses = createStatuses(errors);
  const errorCodes = createErrorCodes(errors);
  const { message: validationMessage } = errors.validation ?? {};
  checkValidation(errors, clientShapes?.error, location);
  return {
    statuses,
    errorCodes,
    validationSummary:
      validationMessage === undefined ? undefined : { reason: validationMessage, isComplete: true },
    credentials: {
      client: createCredentialsFormat(client.credentials),
      upstream: createCredentialsFormat(upstream.credentials),
    },
    secretNames: secretNamesOf(definition),
    nativeScheme: nativeSchemeOf(definition),
    checkVersion: compileVersion(client.version),
    upstreamHeaders: compileFixedHeaders(definition),
    responseTypes: { success: mediaType, error: client.responses.error_media_type ?? mediaType },
    errors: {
      client: createErrorFormat(clientShapes?.error, {
        codeOf: errorCodes.ofStatus,
        titleOf: (status) => statuses.phrases[status] ?? phraseOf(status),
      }),
      upstream: createErrorFormat(upstreamShapes?.error, {
        codeOf: () => undefined,
        titleOf: (status) => STATUS_CODES[status],
      }),
    },
    rateLimitHeaders: {
      client: createRateLimitHeaders(client.rate_limit_headers),
      upstream: createRateLimitHeaders(upstream.rate_limit_headers),
    },
    mediaTypes: compileMediaTypes(client.bodies),
    ...compileClientPaths(definition, location),
    grammar: compileGrammar(definition, location),
    filterWriter: createFilterWriter(upstream.filters),
    paging,
    lists,
    parseList: createListParser(lists.upstream, MAX_PAGES_IN_ONE * paging.upstream.size.maximum),
  };
}
