/** The headers that pass from one side to the other. */
import { credentialHeaders, type CredentialsPlaces } from "../../dialect/credentials.ts";
import { createRateLimitHeaders } from "../../dialect/rate-limit-headers.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { SourceLocation } from "../load/source-location.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { PassedHeadersDefinition } from "../schema/headers-definition.ts";

/** All lines of each header by its lower-case name. */
type HeaderLines = Readonly<Record<string, readonly string[] | undefined>>;

/** The headers that pass on one route. Names are in lower case. */
export interface PassedHeaders {
  /**
   * Returns the headers of the upstream request.
   *
   * @param mayBeCurrent Whether one upstream response becomes the client's, so that it may be a 304.
   * @throws {HttpError} 400 for a header that is required and missing, and for one that comes twice
   */
  readonly request: (sent: HeaderLines, mayBeCurrent: boolean) => Readonly<Record<string, string>>;
  /** Returns the headers of the client's response. @param locate Returns the client's path of a `Location`. */
  readonly response: (
    received: Readonly<Record<string, string | string[] | undefined>>,
    locate: (location: string) => string | undefined,
  ) => Record<string, string>;
  /** As the pack writes them. */
  readonly definition: PassedHeadersDefinition;
}

const EMPTY: PassedHeadersDefinition = { request: {}, response: {} };

/** Headers whose value is an address of the upstream. Clients must never see it. */
const ADDRESSES: ReadonlySet<string> = new Set(["location", "content-location"]);

/** Headers with which a response may be a 304. */
const CONDITIONAL: ReadonlySet<string> = new Set(["if-none-match", "if-modified-since"]);

/** Characters of a value that a response may have. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The lower-case names of a side's rate limit headers. */
const limitNames = ({ rate_limit_headers: definition }: DialectDefinition["client" | "upstream"]): string[] =>
  createRateLimitHeaders(definition).names.map((name) => name.toLowerCase());

/** Reports headers without a rule, and those that are not the pack's to pass. */
function checkHeaders(
  { request, response }: PassedHeadersDefinition,
  { client, upstream }: DialectDefinition,
  location: SourceLocation,
): void {
  const isToken = (name: string | undefined, credentials: CredentialsPlaces | undefined): boolean =>
    credentialHeaders(credentials).some((header) => header.toLowerCase() === name?.toLowerCase());
  const fixed = new Set(Object.keys(upstream.headers ?? {}).map((name) => name.toLowerCase()));
  for (const [name, { upstream: target }] of Object.entries(request)) {
    const at = location.at("request", name);
    if (target === undefined) at.report('the name of the upstream\'s header is missing: "upstream"');
    if (isToken(name, client.credentials) || isToken(target, upstream.credentials))
      at.report('this header has the token: see "credentials"');
    if (target !== undefined && fixed.has(target.toLowerCase()))
      at.report(`"${target}" has a fixed value in "headers" of the upstream`);
  }
  const limits = limitNames(client);
  for (const [name, { upstream: source, const: value }] of Object.entries(response)) {
    const at = location.at("response", name);
    if ((source === undefined) === (value === undefined))
      at.report('a header needs either "upstream" or "const"');
    if (limits.includes(name.toLowerCase()))
      at.report('this header has the gateway\'s rate limit: see "rate_limit_headers"');
  }
}

/** Compiles the headers of a route; undefined if none pass. */
export function compileHeaders(
  own: PassedHeadersDefinition | undefined,
  dialect: DialectDefinition,
  locations: { readonly route: SourceLocation; readonly pack: SourceLocation },
): PassedHeaders | undefined {
  const common = dialect.client.headers ?? EMPTY;
  if (own) checkHeaders(own, dialect, locations.route.at("headers"));
  const definition = {
    request: { ...common.request, ...own?.request },
    response: { ...common.response, ...own?.response },
  };
  const requests = Object.entries(definition.request).map(([name, rule]) => ({
    name,
    line: name.toLowerCase(),
    target: (rule.upstream ?? name).toLowerCase(),
    ...rule,
  }));
  const responses = Object.entries(definition.response).flatMap(([name, { upstream }]) =>
    upstream === undefined ? [] : [{ name: name.toLowerCase(), source: upstream.toLowerCase() }],
  );
  const constants = Object.entries(definition.response).flatMap(([name, { const: value }]) =>
    value === undefined ? [] : [[name.toLowerCase(), value] as const],
  );
  if (requests.length + responses.length + constants.length === 0) return undefined;
  return {
    definition,
    request(sent, mayBeCurrent) {
      const headers: Record<string, string> = {};
      for (const { name, line, target, required, default: standard } of requests) {
        const [value = standard, ...others] = sent[line] ?? [];
        if (others.length > 0) throw new HttpError(400, `There is more than one ${name} header.`);
        if (!mayBeCurrent && CONDITIONAL.has(target)) continue;
        if (value !== undefined && value !== "") headers[target] = value;
        else if (required) throw new HttpError(400, `The ${name} header is required.`);
      }
      return headers;
    },
    response(received, locate) {
      const headers: Record<string, string> = Object.fromEntries(constants);
      for (const { name, source } of responses) {
        const value = received[source];
        const text = Array.isArray(value) ? value.join(", ") : value;
        const translated = text !== undefined && ADDRESSES.has(source) ? locate(text) : text;
        if (translated !== undefined && SENDABLE.test(translated)) headers[name] = translated;
      }
      return headers;
    },
  };
}

/** Reports problems of the headers that all routes have. */
export const checkCommonHeaders = (dialect: DialectDefinition, location: SourceLocation): void =>
  checkHeaders(dialect.client.headers ?? EMPTY, dialect, location.at("client", "headers"));

/** Reports headers of a rate limit of which one has two values, and a unit of nothing. */
export function checkRateLimitHeaders(dialect: DialectDefinition, location: SourceLocation): void {
  for (const side of ["client", "upstream"] as const) {
    const { rate_limit_headers: definition } = dialect[side];
    if (!definition) continue;
    const at = location.at(side, "rate_limit_headers");
    const names = limitNames(dialect[side]);
    if (names.length === 0) at.report({ message: "no header is named", hint: "limit: RateLimit-Limit" });
    if (new Set(names).size < names.length) at.report("one header has two values");
    if (definition.reset_unit !== undefined && definition.reset === undefined)
      at.at("reset_unit").report('the header that has this unit is missing: "reset"');
  }
}
