/** Finds the secret values of an exchange: its tokens, and the values of secret names in all messages. */
import { isForm, type SecretSearch, type SecretValues, type SentBody } from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import { type Pack, secretsBehindScheme, usualTokenTexts } from "../../pack/index.ts";
import type { UpstreamCallRecord } from "../calls/instrument-call.ts";
import { type AlphaRequest, header, splitTarget } from "../request/request.ts";
import type { DecodedStart } from "./body-start.ts";
import type { RecordedExchange } from "./recorded-exchange.ts";
import type { RecordOptions } from "./record-options.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Node decodes the bytes of a head as Latin-1, but clients send UTF-8. */
export function asUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  try {
    return utf8.decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

/** Returns the first line of a header. Undefined if it is missing or empty. */
export function headerText(request: AlphaRequest, name: string): string | undefined {
  const text = header(request, name);
  return text === undefined ? undefined : asUtf8(text);
}

/** Matches a scheme and a token without separators, as nearly all clients send them. */
const ONE_TOKEN = /^\S+ +([\w.~+/-]{8,})$/;

/** Returns all parts of a line of credentials that may be a token: the whole line, the part after the scheme, and each word. */
function possibleTokens(line: string): string[] {
  const text = line.trim();
  const token = ONE_TOKEN.exec(text)?.[1];
  const secrets = secretsBehindScheme(text);
  return token === undefined
    ? [text, text.replace(/^\S+ +/, ""), ...text.split(/[\s,;="]+/), ...secrets]
    : [token, ...secrets];
}

/** Returns the possible tokens of a request whose credentials were not parsed, or have several spellings. */
const unparsedTokens = (request: AlphaRequest, { client }: Pack["credentials"]): string[] =>
  [...(request.headers["authorization"] ?? []), ...(client?.texts(request) ?? [])].flatMap(possibleTokens);

/** Returns the possible tokens of a request, in all locations that most APIs or the pack use. */
function anyTokens(request: AlphaRequest, credentials: Pack["credentials"]): string[] {
  const found = credentials.client?.read(request);
  const spellings = found && "token" in found ? credentials.client?.spellings?.(found.token) : undefined;
  return [...unparsedTokens(request, credentials), ...usualTokenTexts(request), ...(spellings ?? [])];
}

/**
 * Returns the client's token and v4's, as they are sent. Invalid credentials may contain a token as well, so every part
 * of them is secret.
 */
function tokensOf(
  { lane, request, translated }: RecordedExchange,
  credentials: Pack["credentials"],
): readonly string[] {
  if (lane === "legacy") return anyTokens(request, credentials);
  if (!translated) return unparsedTokens(request, credentials);
  const { client, upstream } = credentials;
  const { context } = translated;
  const token = context.client?.credentials.token;
  const sent = context.upstream?.v4Token;
  return [
    ...(token === undefined ? [] : [token, ...(client?.spellings?.(token) ?? [])]),
    ...(token === undefined || client?.spellings ? unparsedTokens(request, credentials) : []),
    ...(sent === undefined || sent === token ? [] : [sent]),
    ...(sent === undefined ? [] : (upstream?.spellings?.(sent) ?? [])),
  ];
}

/**
 * Whether the id of a request contains a secret value of its head, which would then appear in logs and traces. The path
 * is not searched, because ids in it are not secrets.
 */
export function isSecretId(request: AlphaRequest, { redaction, pack }: RecordOptions): boolean {
  const sent = { query: asUtf8(request.query), headers: request.headers };
  return redaction.search.find(sent, anyTokens(request, pack.credentials)).redact(request.id) !== request.id;
}

/** Returns the body of a translated request. Undefined if not found. */
export function sentBodyOf({ request, translated }: RecordedExchange): SentBody | undefined {
  const { body } = translated?.context ?? {};
  if (!body || body.bytes.length === 0) return undefined;
  return { bytes: body.bytes, type: header(request, "content-type"), form: body.form };
}

/** Finds the secret values of all messages of an exchange. */
export function findSecrets(exchange: RecordedExchange, options: RecordOptions): SecretValues {
  const { request, route, translated } = exchange;
  const { search } = options.redaction;
  const sent = {
    path: asUtf8(request.path),
    isRoute: route !== null,
    query: asUtf8(request.query),
    texts: [headerText(request, "user-agent"), headerText(request, options.filterHeader)],
    headers: request.headers,
    body: sentBodyOf(exchange),
  };
  const secrets = search.find(sent, tokensOf(exchange, options.pack.credentials));
  for (const call of translated?.context.upstream?.calls ?? []) addFromCall(call, search, secrets);
  addFromStarts(exchange, search, secrets);
  if (options.bodies || hasTexts(exchange, options))
    for (const bytes of responsesOf(exchange)) search.addFromBody(bytes, secrets);
  return secrets;
}

/** Whether a record without bodies contains texts that a client chose, which may contain secrets of v4's bodies. */
const hasTexts = (
  { request, route, warnings, translated }: RecordedExchange,
  { filterHeader }: RecordOptions,
): boolean =>
  translated !== undefined &&
  (request.query !== "" ||
    request.headers[filterHeader] !== undefined ||
    route === null ||
    warnings.length > 0);

/** The bodies of v4, and the JSON response that was made of them. */
function responsesOf({ translated }: RecordedExchange): readonly Buffer[] {
  if (!translated) return [];
  const { context, response } = translated;
  const bodies = (context.upstream?.calls ?? []).flatMap((call) => call.response?.bytes ?? []);
  const isSearched = !context.isOwnPage && !response.file && !response.isText;
  return isSearched ? [...bodies, response.body] : bodies;
}

/** Adds the secret values of a call and of its response's head. */
export function addFromCall(
  { path, filter, body, response }: UpstreamCallRecord,
  search: SecretSearch,
  secrets: SecretValues,
): void {
  const [target, query] = splitTarget(path);
  const texts = filter === null ? [] : [filter];
  search.addFrom({ path: target, isRoute: true, query, texts, headers: response?.headers }, secrets);
  search.addFromValue(body, secrets);
}

/** Adds the secret values of the streamed bodies of a forwarded request. */
function addFromStarts(
  { lane, forwarded }: RecordedExchange,
  search: SecretSearch,
  secrets: SecretValues,
): void {
  // Only the start of a longer body is searched, because only the start is recorded.
  const searched = (start: DecodedStart): Buffer | undefined => {
    const bytes = readable(start);
    const isLonger = bytes !== undefined && bytes.length > search.maxSearched;
    return isLonger ? wholeCharacters(bytes.subarray(0, search.maxSearched)) : bytes;
  };
  const { sent, received, isComplete = false } = forwarded ?? {};
  if (sent) addFromStart(sent, searched(sent), search, secrets);
  if (!received) return;
  if (lane === "legacy") addFromStart(received, searched(received), search, secrets);
  else addFromUnrecorded(received, isComplete, search, secrets);
}

/** Adds the secret values of a part of a body, and of its message's head. */
function addFromStart(
  { headers, type }: DecodedStart,
  bytes: Buffer | undefined,
  search: SecretSearch,
  secrets: SecretValues,
): void {
  search.addFrom({ headers, body: bytes?.length ? { bytes, type } : undefined }, secrets);
}

const UNSEARCHED = "the upstream's response can't be searched for secrets";

/**
 * Adds the secret values of a response that is not recorded, but whose values the client's texts may repeat. A body
 * that can't be searched may contain any value.
 *
 * @param isComplete Whether the whole body has arrived. If not, its last value may be incomplete.
 */
function addFromUnrecorded(
  response: DecodedStart,
  isComplete: boolean,
  search: SecretSearch,
  secrets: SecretValues,
): void {
  const { bytes, isKept, lack } = response;
  if (isKept && lack !== undefined) secrets.markIncomplete(`${UNSEARCHED}: ${lack}`);
  else if (!isComplete && search.mayHaveSecrets(bytes.toString()))
    secrets.markIncomplete(`${UNSEARCHED}: it is cut`);
  addFromStart(response, lack === undefined ? bytes : undefined, search, secrets);
}

/** Returns the start of UTF-8 text without an incomplete character at its end. */
const wholeCharacters = (bytes: Buffer): Buffer =>
  Buffer.from(new TextDecoder().decode(bytes, { stream: true }));

const JSON_TYPE = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\b/i;

/** Returns the part of a streamed body that can be searched and recorded: JSON and forms, with any media type. */
export function readable({ bytes, type = "", lack }: DecodedStart): Buffer | undefined {
  if (bytes.length === 0) return undefined;
  const isWhole = lack === undefined;
  const isReadable =
    JSON_TYPE.test(type) ||
    isForm({ type, bytes }) ||
    (isWhole ? isJson(bytes) : /^\s*[{[]/.test(bytes.toString("latin1", 0, 64)));
  if (!isReadable) return undefined;
  return isWhole ? bytes : wholeCharacters(bytes);
}
