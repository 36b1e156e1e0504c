/** The headers that pass from one side to the other. */
import { credentialHeaders } from "../credentials/credentials.ts";
import { createRateLimitHeaders } from "./rate-limit-headers.ts";
import type { SourceLocation } from "../../base/index.ts";
import { checkRules, has, type HasKeys, type KeyRules, oneOf, states, WHOLE } from "../key-rules.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type {
  PassedHeadersDefinition,
  RequestHeaderDefinition,
  ResponseHeaderDefinition,
} from "./headers-definition.ts";
import {
  compileCommonHeaders,
  compilePassedHeaders,
  compileWrittenValues,
  type SentRequest,
} from "./request-headers.ts";
import { ADDRESSES, compileEntityTag, compileResponseHeaders, makesDate } from "./response-headers.ts";

/** The headers that are passed on by one route. Names are in lower case. Each part is undefined if no header needs it. */
export type PassedHeaders = NonNullable<ReturnType<typeof compileHeaders>>;

const EMPTY: PassedHeadersDefinition = { request: {}, response: {} };

/**
 * The conditions of a request that are compared with an entity tag that the gateway creates. The upstream does not
 * support them.
 */
const TAG_CONDITIONS: ReadonlySet<string> = new Set(["if-match", "if-none-match"]);

/** Returns the lower-case names of a side's rate limit headers. */
const limitNames = ({ rate_limit_headers: definition }: DialectDefinition["client" | "upstream"]): string[] =>
  createRateLimitHeaders(definition).names.map((name) => name.toLowerCase());

/** Whether a header contains the token of a side. */
const hasToken = (name: string | undefined, { credentials }: DialectDefinition["client" | "upstream"]) =>
  credentialHeaders(credentials).some((header) => header.toLowerCase() === name?.toLowerCase());

/** Returns the headers of all upstream requests, in lower case, each with the key that defines it. */
const fixedNames = ({ headers = {}, version }: DialectDefinition["upstream"]): ReadonlyMap<string, string> =>
  new Map([
    ...Object.keys(headers).map((name) => [name.toLowerCase(), "headers"] as const),
    // `Accept` is not listed, because no rule can name it.
    ...(version?.header === undefined ? [] : [[version.header.toLowerCase(), "version"] as const]),
  ]);

/** The places of a client's header in the upstream's request. */
const PLACES = ["upstream", "query", "member", "path"] as const;

const REQUEST_RULES: KeyRules<{ readonly keys: RequestHeaderDefinition }> = {
  [WHOLE]: [
    oneOf(
      PLACES,
      ({ keys }) =>
        keys.write === undefined
          ? { message: 'the name of the upstream\'s header is missing: "upstream"' }
          : undefined,
      () => ({
        message: 'a value has one place: "upstream", "query", "member" or "path"',
        hint: "remove all but one",
      }),
    ),
  ],
  every_call: [
    states(
      ({ keys: { query, member, path } }) => (query ?? member ?? path) !== undefined,
      '"every_call" is about headers: it excludes "query", "member" and "path"',
    ),
  ],
  path: [
    states(
      ({ keys }) => keys.required === undefined && keys.default === undefined,
      'a value in a path needs "required: true" or a "default"',
    ),
  ],
};

const RESPONSE_RULES: KeyRules<{ readonly keys: ResponseHeaderDefinition; readonly name: string }> = {
  [WHOLE]: [
    ({ keys: { upstream, const: value, read }, name }) =>
      (upstream ?? value ?? read) === undefined
        ? [{ at: [], message: 'a header needs "upstream", "read" or "const"', hint: `${name}: ${name}` }]
        : [],
  ],
  const: [
    ({ keys: { upstream, read } }) =>
      (upstream ?? read) === undefined
        ? []
        : [{ at: [], message: '"const" is the value of all responses: it excludes "upstream" and "read"' }],
  ],
  links: [
    states(
      ({ keys, name }) => keys.links === "absolute" && !ADDRESSES.has(name.toLowerCase()),
      '"links" is about addresses: Location and Content-Location',
    ),
  ],
};

const RATE_LIMIT_RULES: KeyRules<HasKeys> = {
  reset_unit: [states((facts) => !has(facts, "reset"), 'the header that has this unit is missing: "reset"')],
};

/** Reports request headers without a rule, and headers that a pack can't pass on. */
function checkRequestHeaders(
  { request }: PassedHeadersDefinition,
  { client, upstream }: DialectDefinition,
  location: SourceLocation,
): void {
  const fixed = fixedNames(upstream);
  for (const [name, rule] of Object.entries(request)) {
    const { upstream: target } = rule;
    const at = location.at("request", name);
    checkRules(REQUEST_RULES, { keys: rule }, at);
    if (hasToken(name, client) || hasToken(target, upstream))
      at.report('this header has the token: see "credentials"');
    const sentName = PLACES.every((place) => rule[place] === undefined) ? name : target;
    const key = fixed.get(sentName?.toLowerCase() ?? "");
    if (key !== undefined) at.report(`"${sentName}" has a fixed value in "${key}" of the upstream`);
  }
}

/** Reports response headers without a value, and headers that a pack can't write. */
function checkResponseHeaders(
  { response }: PassedHeadersDefinition,
  { client }: DialectDefinition,
  location: SourceLocation,
): void {
  const limits = limitNames(client);
  for (const [name, rule] of Object.entries(response)) {
    const at = location.at("response", name);
    checkRules(RESPONSE_RULES, { keys: rule, name }, at);
    if (limits.includes(name.toLowerCase()))
      at.report('this header has the gateway\'s rate limit: see "rate_limit_headers"');
  }
}

/** Whether links in headers of a pack contain a host. @param routes the headers of routes */
export const hasAbsoluteHeader = (
  { client }: DialectDefinition,
  routes: Iterable<Pick<PassedHeaders, "definition"> | undefined>,
): boolean =>
  [client.headers, ...[...routes].map((headers) => headers?.definition)].some((definition) =>
    Object.values(definition?.response ?? {}).some(
      ({ links }: ResponseHeaderDefinition) => links === "absolute",
    ),
  );

type RequestHeaders = PassedHeadersDefinition["request"];

const filterRules = (
  request: RequestHeaders,
  isMeant: (rule: RequestHeaderDefinition) => boolean,
): RequestHeaders => Object.fromEntries(Object.entries(request).filter(([, rule]) => isMeant(rule)));

/** Returns the request headers of a route. The pack's headers with values for other paths have no effect. */
const requestHeadersOf = (
  own: PassedHeadersDefinition | undefined,
  ofPack: PassedHeadersDefinition,
  usedNames: ReadonlySet<string>,
): RequestHeaders => ({
  ...filterRules(ofPack.request, ({ path }) => path === undefined || usedNames.has(path)),
  ...own?.request,
});

/** Returns the names in braces that get their values from headers. */
export const headerPathNames = (
  own: PassedHeadersDefinition | undefined,
  { client }: DialectDefinition,
  usedNames: ReadonlySet<string>,
): string[] =>
  Object.values(requestHeadersOf(own, client.headers ?? EMPTY, usedNames)).flatMap(({ path }) => path ?? []);

/**
 * Compiles the headers of a route; undefined if no header is passed on.
 *
 * @param own the headers of the route; if undefined, those of all routes are compiled
 * @param usedNames the names in braces that the upstream's paths contain
 */
export function compileHeaders(
  own: PassedHeadersDefinition | undefined,
  dialect: DialectDefinition,
  locations: { readonly route: SourceLocation; readonly pack: SourceLocation },
  usedNames: ReadonlySet<string>,
) {
  const ofPack = dialect.client.headers ?? EMPTY;
  if (own) {
    checkRequestHeaders(own, dialect, locations.route.at("headers"));
    checkResponseHeaders(own, dialect, locations.route.at("headers"));
  }
  for (const [name, { path }] of Object.entries(own?.request ?? {}))
    if (path !== undefined && !usedNames.has(path))
      locations.route
        .at("headers", "request", name, "path")
        .report(`has no effect: no path of "upstream" has {${path}}`);
  const definition = {
    request: requestHeadersOf(own, ofPack, usedNames),
    response: { ...ofPack.response, ...own?.response },
  };
  if (Object.keys({ ...definition.request, ...definition.response }).length === 0) return undefined;
  const locate =
    (kind: "request" | "response", key: "read" | "write") =>
    (name: string): SourceLocation =>
      own && Object.hasOwn(own[kind], name)
        ? locations.route.at("headers", kind, name, key)
        : locations.pack.at("client", "headers", kind, name, key);
  const [ofRequest, ofResponse] = [locate("request", "write"), locate("response", "read")];
  const entityTag = compileEntityTag(definition.response, ofResponse);
  const { request } = definition;
  const common = filterRules(request, (rule) => rule.every_call === true);
  const ofPath = filterRules(request, ({ path }) => path !== undefined);
  const ofMain = filterRules(request, (rule) => rule.every_call !== true && rule.path === undefined);
  const writePath = compileWrittenValues(ofPath, ofRequest, "selection");
  return {
    /** The definition as written in the pack. */
    definition,
    /**
     * Returns the unchanged headers for the upstream request. The second argument is true if one upstream response
     * becomes the client's, which may then be a 304.
     *
     * @throws {HttpError} 400 for a missing required header, and for a duplicate one
     */
    request: compilePassedHeaders(ofMain, (target) => !entityTag || !TAG_CONDITIONS.has(target)),
    /**
     * Returns the values that are computed from other values, or moved to a different location for the upstream.
     * @throws {HttpError} 400
     */
    write: compileWrittenValues(ofMain, ofRequest, "translated"),
    /** Returns the headers of all calls of a request. @throws {HttpError} 400, like `request` and `write` */
    common: compileCommonHeaders(common, ofRequest),
    /** Returns the values for the names in braces in upstream paths. @throws {HttpError} 400 as in `request`. */
    path: writePath && ((sent: SentRequest) => writePath(sent).path),
    /** Returns the headers of the client's response if it is successful, and if it is an error. */
    success: compileResponseHeaders(definition.response, "success", ofResponse),
    error: compileResponseHeaders(definition.response, "error", ofResponse),
    /** Returns the entity tag that the gateway creates from an upstream object. */
    entityTag,
    /** Whether the pack creates the `Last-Modified` of responses, which is compared with a client's `If-Modified-Since`. */
    makesDate: makesDate(definition.response),
  };
}

/** Reports problems of the headers for all routes. */
export function checkCommonHeaders(dialect: DialectDefinition, location: SourceLocation): void {
  const { headers = EMPTY } = dialect.client;
  checkRequestHeaders(headers, dialect, location.at("client", "headers"));
  checkResponseHeaders(headers, dialect, location.at("client", "headers"));
  const fixed = fixedNames(dialect.upstream);
  for (const name of Object.keys(dialect.upstream.headers ?? {}))
    if (fixed.get(name.toLowerCase()) === "version")
      location.at("upstream", "headers", name).report('this header has the version: see "version"');
}

/** Reports rate limit headers that would have two values, and a unit without a header. */
export function checkRateLimitHeaders(dialect: DialectDefinition, location: SourceLocation): void {
  for (const side of ["client", "upstream"] as const) {
    const { rate_limit_headers: definition } = dialect[side];
    if (!definition) continue;
    const at = location.at(side, "rate_limit_headers");
    const names = limitNames(dialect[side]);
    if (names.length === 0) at.report({ message: "no header is named", hint: "limit: RateLimit-Limit" });
    if (new Set(names).size < names.length) at.report("one header has two values");
    checkRules(RATE_LIMIT_RULES, { keys: definition }, at);
  }
}
