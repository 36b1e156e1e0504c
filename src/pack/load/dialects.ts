/** The compiled rules of a pack about both dialects as a whole. */
import {
  createCredentialsFormat,
  credentialHeaders,
  credentialPlaces,
  type CredentialsPlace,
} from "../credentials/credentials.ts";
import { createFilterWriter } from "../filters/filter-writer.ts";
import { namesInPaths } from "../paths/router.ts";
import { compileMediaTypes } from "../bodies/body-format.ts";
import { USUAL_SECRET_NAMES } from "./usual-secret-names.ts";
import { createRateLimitHeaders } from "../headers/rate-limit-headers.ts";
import { createErrorCodes, createStatuses } from "../errors/statuses.ts";
import type { SourceLocation } from "../../base/index.ts";
import { checkCommonHeaders, checkRateLimitHeaders } from "../headers/headers.ts";
import { checkAskedForms } from "../headers/asked-forms.ts";
import { checkVersionPlace, compileVersion } from "../headers/versions.ts";
import { checkRules, has, type HasKeys, type KeyRules, oneOf, states, WHOLE } from "../key-rules.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import { checkEnvelope, packLists } from "../lists/envelopes.ts";
import { compileErrors } from "../errors/error-shapes.ts";
import { compileGrammar } from "../filters/filters.ts";
import type { LocatedFile } from "./resource-files.ts";
import { compilePaging } from "../lists/paging.ts";

function nativeSchemeOf({ client, upstream }: DialectDefinition): string | undefined {
  const { scheme, parameter, token } = upstream.credentials ?? {};
  // The forwarding code treats the whole text after the scheme as the token.
  const native = parameter === undefined ? scheme : undefined;
  const schemes = credentialPlaces(client.credentials).map(
    ({ scheme, basic }) => scheme ?? (basic && "Basic"),
  );
  if (schemes.length === 0 || token !== "client") return undefined;
  const isDistinct = schemes.every(
    (scheme) => scheme !== undefined && scheme.toLowerCase() !== native?.toLowerCase(),
  );
  return isDistinct ? native : undefined;
}

/**
 * The usual names, the names of the pack, and the names of tokens. Clients sometimes send tokens in the wrong part of a
 * request, so these names are secret everywhere, in any spelling.
 */
function secretNamesOf({ client, upstream, secrets }: DialectDefinition): readonly string[] {
  const changed = (name: string): boolean => secrets.includes(`!${name}`) || secrets.includes(`${name}[]`);
  const usual = USUAL_SECRET_NAMES.filter((name) => !changed(name));
  const places = [client.credentials, upstream.credentials].flatMap(credentialPlaces);
  const names = places.flatMap(({ header, query, cookie }) => [header, query, cookie]);
  // Asterisks and brackets have a meaning in `secrets`.
  const plain = names.flatMap((name) => name?.replaceAll("*", "").replace(/\[\]$/, "") ?? []);
  return [...usual, ...secrets, ...(places.length === 0 ? [] : ["authorization"]), ...plain];
}

function compileFixedHeaders({ upstream }: DialectDefinition): Readonly<Record<string, string>> | undefined {
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

/** Reports locations of credentials in `or` that are duplicates, and more than one location in the query. */
function checkFurtherPlaces({ client }: DialectDefinition, location: SourceLocation): void {
  const places = credentialPlaces(client.credentials);
  const nameOf = ({ scheme, parameter, basic, header, query, cookie }: CredentialsPlace): string =>
    [
      scheme?.toLowerCase() ?? (basic && "basic"),
      parameter?.toLowerCase(),
      header?.toLowerCase(),
      query && "query",
      cookie,
    ].join(" ");
  for (const [index, place] of places.slice(1).entries()) {
    const at = location.at("client", "credentials", "or", index);
    checkRules(PLACE_RULES, { keys: place }, at);
    if (places.slice(0, index + 1).some((other) => nameOf(other) === nameOf(place)))
      at.report(
        place.query === undefined
          ? "this place is there twice"
          : "a token is in one parameter of the query at most",
      );
  }
}

const PLACES = ["scheme", "basic", "header", "query", "cookie"];

const PLACE_RULES: KeyRules<HasKeys> = {
  [WHOLE]: [
    oneOf(
      PLACES,
      () => ({ message: "the place of the token is missing", hint: `one of ${PLACES.join(", ")}` }),
      (found) => ({
        message: `a token is in one place, not in ${found.join(" and ")}`,
        hint: "keep one, and list the alternatives under `or:`",
      }),
    ),
  ],
  parameter: [
    states((facts) => !has(facts, "scheme"), 'a parameter belongs to a scheme: "scheme" is missing'),
  ],
};

/** Reports credentials without a location or with several, and a token that no client can send. */
function checkCredentials(definition: DialectDefinition, location: SourceLocation): void {
  const { client, upstream, oauth } = definition;
  for (const side of ["client", "upstream"] as const) {
    const { credentials } = definition[side];
    if (credentials) checkRules(PLACE_RULES, { keys: credentials }, location.at(side, "credentials"));
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

/**
 * Compiles the allowed variations of requests: the method in a header, and significant slashes. Reports a header with a
 * second meaning.
 */
function compileClientPaths({ client }: DialectDefinition, location: SourceLocation) {
  const { method_header: header, slashes = {} } = client;
  const methodHeader = header?.toLowerCase();
  const others = [
    ...credentialHeaders(client.credentials).map((name) => ["credentials", name] as const),
    ["filters", client.filters?.header],
    ["version", client.version?.header],
    ...Object.keys(client.headers?.request ?? {}).map((name) => ["headers", name] as const),
  ] as const;
  for (const [key, name] of others)
    if (name !== undefined && name.toLowerCase() === methodHeader)
      location.at("client", "method_header").report(`this header has another meaning: see "${key}"`);
  const isExact = slashes.trailing === "exact";
  const rejectsDoubled = slashes.doubled === "reject";
  return {
    /** The header with the method that replaces POST, in lower case. Undefined if the API has no such header. */
    methodHeader,
    /** Whether a path may contain double slashes, by the name of its route; undefined if all paths may. */
    acceptsSlashes:
      isExact || rejectsDoubled
        ? (path: string, routeName: string): boolean =>
            !(rejectsDoubled && path.includes("//")) &&
            !(isExact && path.endsWith("/") !== routeName.endsWith("/"))
        : undefined,
  };
}

/** Compiles the common parts of both dialects. @param files the pack's resource files, whose routes may differ */
export function compileDialects(
  definition: DialectDefinition,
  files: readonly LocatedFile<ResourceDefinition>[],
  location: SourceLocation,
) {
  const { client, upstream, errors } = definition;
  const lists = packLists(definition);
  checkEnvelope({ client: client.responses, upstream: upstream.responses }, (side) =>
    location.at(side, "responses"),
  );
  checkCredentials(definition, location);
  checkCommonHeaders(definition, location);
  checkRateLimitHeaders(definition, location);
  checkAskedForms(definition, location);
  checkVersionPlace(client.version, location.at("client", "version"));
  checkVersionPlace(upstream.version, location.at("upstream", "version"));
  if (client.content_type !== undefined && client.version?.media_type !== undefined)
    location
      .at("client", "content_type")
      .report(
        '"content_type" and "media_type" of "version" exclude each other: both are the type of responses',
      );
  const mediaType = client.content_type ?? client.version?.media_type ?? "application/json";
  const paging = compilePaging(definition, lists, location);
  const statuses = createStatuses(errors);
  const errorCodes = createErrorCodes(errors);
  return {
    statuses,
    errorCodes,
    ...compileErrors(
      definition,
      files,
      namesInPaths(files.flatMap((file) => file.definition.routes ?? [])),
      { statuses, errorCodes },
      location,
    ),
    /** The locations of tokens in each dialect; undefined for a dialect without tokens. */
    credentials: {
      client: createCredentialsFormat(client.credentials),
      upstream: createCredentialsFormat(upstream.credentials),
    },
    /**
     * The names of secret values: the usual names, `secrets` of the pack, and the names of headers and parameters that
     * contain tokens.
     */
    secretNames: secretNamesOf(definition),
    /**
     * The scheme of requests in the upstream's own dialect, which are forwarded without translation. Undefined if the
     * `Authorization` header does not distinguish them, or if the upstream's tokens belong to the gateway.
     */
    nativeScheme: nativeSchemeOf(definition),
    /** Checks the version that a request specifies; undefined if the pack accepts any version. */
    checkVersion: compileVersion(client.version),
    /** Headers of all upstream requests, with lower-case names. Undefined if the pack defines none. */
    upstreamHeaders: compileFixedHeaders(definition),
    /** The media types of the client's responses. */
    responseTypes: { success: mediaType, error: client.responses.error_media_type ?? mediaType },
    /** The headers for the status of rate limits in each dialect. */
    rateLimitHeaders: {
      client: createRateLimitHeaders(client.rate_limit_headers),
      upstream: createRateLimitHeaders(upstream.rate_limit_headers),
    },
    /** The media types of the client's bodies. */
    mediaTypes: compileMediaTypes(client.bodies),
    ...compileClientPaths(definition, location),
    /** The filter grammar. It contains no operators if clients can't filter. */
    grammar: compileGrammar(definition, location),
    /** Writes filters of the upstream, including conditions of the pack. */
    filterWriter: createFilterWriter(upstream.filters),
    paging,
    /** The shapes of lists, unless a resource or a route defines its own. */
    lists,
  };
}
