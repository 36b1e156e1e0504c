import { Readable } from "node:stream";
import { type CredentialsFormat, overriddenMethod, type Pack, type SentToken } from "../../pack/index.ts";
import {
  type AlphaRequest,
  type AlphaResponse,
  type CatalogCache,
  connectCatalogs,
  createAlphaPipeline,
  createPipelineConfig,
  createTokenCache,
  createTokenLocks,
  createUnlimitedRates,
  type FileUpstream,
  NO_PLAN,
  type PipelineDependencies,
  type RequestContext,
  splitTarget,
  takeQueryTokens,
  type TokenInfo,
  type Upstream,
  type UpstreamTokens,
} from "../../gateway/index.ts";
import type { Exchange } from "../answers/comparison.ts";

/** A request without HTTP. */
export interface DryRunRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, or its bytes. If the `Content-Type` in `headers` is not JSON, the text. */
  readonly body?: unknown;
  /** The media type of a file that is uploaded instead of a body. */
  readonly file?: string | undefined;
  /** Whether no token is added. Default: a request without a token gets one, in the pack's first location. */
  readonly isAnonymous?: boolean;
  /** The address of the client. Default: an address for documentation. */
  readonly address?: string;
  /** The time for expressions. Default: now. */
  readonly time?: Date | undefined;
}

/** The response, and the data that the pipeline recorded about the request. */
export interface DryRunResponse {
  readonly response: Omit<AlphaResponse, "body"> & { readonly body: string };
  readonly context: RequestContext;
  readonly exchange: Exchange;
}

/** The outcome of a request. */
interface Handled {
  readonly response: AlphaResponse;
  /** The data of the request. Undefined if it was not recorded. */
  readonly exchange: Exchange | undefined;
  /** Set for a request that failed unexpectedly. */
  readonly error: unknown;
}

/** The whole pipeline with an upstream that needs no network. */
export type DryRun = ReturnType<typeof createDryRun>;

/** Whether a media type is JSON. A missing type is treated as JSON. */
export const isJsonType = (type: string | undefined): boolean => type === undefined || /json/i.test(type);

/** Replacements for other upstreams and for settings in a dry run. */
export interface DryRunOptions {
  /** The upstream for reads of catalogs. Default: the upstream of the requests. */
  readonly catalogUpstream?: Upstream;
  /** Entries of catalogs that replace the upstream's. */
  readonly entries?: Pick<CatalogCache, "find" | "cachedText"> | undefined;
  /** Whether ids that the catalogs do not contain are accepted, as before the catalogs are read. Default: false. */
  readonly acceptsUnknownIds?: boolean;
  /** Base of links that contain a host. Default: one for documentation. */
  readonly publicUrl?: URL | undefined;
  /** Called at the end of every request, with the data of its audit record. */
  readonly record?: PipelineDependencies["record"];
  /** Parts of a gateway that replace parts of a dry run. */
  readonly parts?: Partial<PipelineDependencies>;
}

/** Default base of links that contain a host. */
const EXAMPLE_URL = new URL("https://gateway.example");

const lowerCaseNames = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Converts headers to the form of a request. */
const toLines = (headers: Readonly<Record<string, string>>): AlphaRequest["headers"] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));

function createAlphaRequest(
  { method, path: pathAndQuery, headers = {}, body, file, address = "192.0.2.1", time }: DryRunRequest,
  sent: SentToken | undefined,
  { credentials, methodHeader }: Pick<Pack, "credentials" | "methodHeader">,
): AlphaRequest {
  const [path, query] = splitTarget(pathAndQuery);
  const named = lowerCaseNames({ ...(file !== undefined && { "content-type": file }), ...headers });
  const isText = typeof body === "string" && !isJsonType(named["content-type"]);
  const override = methodHeader === undefined ? undefined : named[methodHeader];
  const request: AlphaRequest = {
    id: "example",
    startedAt: performance.now(),
    time,
    method: overriddenMethod(method, override === undefined ? undefined : [override]) ?? method,
    path,
    query,
    headers: toLines(named),
    ...(body !== undefined && {
      readBody: async () =>
        Buffer.isBuffer(body) ? body : Buffer.from(isText ? body : JSON.stringify(body)),
    }),
    ...(file !== undefined && { openUpload: () => Readable.from([Buffer.from("a file")]) }),
    address,
    signal: new AbortController().signal,
  };
  const { client } = credentials;
  const takeTokens = (from: AlphaRequest): AlphaRequest =>
    client?.queryParameter === undefined ? from : takeQueryTokens(from, client.queryParameter);
  const given = takeTokens(request);
  if (!sent || client?.read(given)) return given;
  if (sent.query === undefined) return { ...given, headers: toLines({ ...sent.headers, ...named }) };
  return takeTokens({ ...given, query: addParameter(given.query, sent.query) });
}

const addParameter = (query: string, parameter: string): string =>
  query === "" ? parameter : `${query}&${parameter}`;

/** Returns the first of some texts that is a valid token of a dialect: user and password, or one word. */
const exampleToken = (format: CredentialsFormat | undefined, ...texts: readonly string[]): string =>
  texts.find((text) => format?.accepts(text)) ?? "";

/** Replaces the tokens of settings, which a dry run does not have: every token of a client is known. */
function exampleUpstreamTokens({ dialect, credentials }: Pack): UpstreamTokens | undefined {
  const { token: kind = "client" } = dialect.upstream.credentials ?? {};
  if (kind === "client") return undefined;
  const token = exampleToken(credentials.upstream, "upstream-token", "upstream:token");
  return {
    find: (hash) => ({ token, hash: `${hash}.example` }),
    gatewayToken: kind === "setting" ? token : undefined,
  };
}

/** Creates an upstream that streams files from responses in memory. */
const createFileUpstream = (upstream: Upstream): FileUpstream => ({
  async stream({ body, ...request }) {
    body?.resume();
    const response = await upstream.call(request);
    return { ...response, body: Readable.from([response.bytes]) };
  },
});

/** A token store without tokens: all tokens are v4's own. */
export const emptyTokenStore: PipelineDependencies["tokenStore"] = {
  find: () => undefined,
  findReplacement: async () => undefined,
  save: async ({ token }) => token,
  saveLevels: async () => {},
  findLevels: async () => undefined,
  requireRoom: async () => {},
  forget: async () => {},
};

/** Creates a token cache in which all tokens are accepted, so that none is checked before an upload. */
const acceptAllTokens = (): PipelineDependencies["tokens"] => ({
  ...createTokenCache({ size: 1, ttlSeconds: 1, negativeTtlSeconds: 0 }),
  get: (): TokenInfo => ({ refused: false, grants: undefined }),
});

/**
 * Creates the pipeline of a pack, without rate limits and without a token store.
 *
 * @param upstream responds instead of v4
 */
export function createDryRun(
  pack: Pack,
  upstream: Upstream,
  {
    catalogUpstream = upstream,
    acceptsUnknownIds = false,
    entries,
    publicUrl: PUBLIC_URL = EXAMPLE_URL,
    record,
    parts,
  }: DryRunOptions = {},
) {
  const { client } = pack.credentials;
  const upstreamTokens = exampleUpstreamTokens(pack);
  const connected = connectCatalogs(pack, catalogUpstream, 3600, () => undefined, upstreamTokens);
  const catalogs: CatalogCache = {
    ...connected,
    ...(acceptsUnknownIds && { isLoaded: () => false }),
    ...entries,
  };
  // Each request gets a new token, so that no data is cached between requests.
  let requestCount = 0;
  /** The outcomes of requests in flight. A request is copied by the pipeline, but its signal is not. */
  const results = new WeakMap<AlphaRequest["signal"], { exchange?: Exchange; error?: unknown }>();
  const handleRequest = createAlphaPipeline({
    ...createPipelineConfig(pack, { PUBLIC_URL }),
    plan: NO_PLAN,
    upstreamTokens,
    upstream,
    files: createFileUpstream(upstream),
    catalogs,
    tokens: acceptAllTokens(),
    tokenLocks: createTokenLocks(),
    tokenStore: emptyTokenStore,
    limits: createUnlimitedRates(),
    ...parts,
    record: (request, outcome, context) => {
      const result = results.get(request.signal);
      if (result) result.exchange = { request, outcome, context };
      return record?.(request, outcome, context);
    },
    onUnexpectedError(error, { signal }) {
      const result = results.get(signal);
      if (result) result.error = error;
    },
  });

  /** Handles a client's request unchanged. Rejects if the record can't be written. */
  async function handle(request: AlphaRequest): Promise<Handled> {
    const result: { exchange?: Exchange; error?: unknown } = {};
    results.set(request.signal, result);
    const response = await handleRequest(request);
    response.file?.stream.resume();
    // A file is recorded after it was sent.
    if (result.error === undefined) await response.recorded;
    return { response, exchange: result.exchange, error: result.error };
  }

  return {
    catalogs,
    upstreamTokens,
    handle,
    /** Sends a request. @throws the error of a request that failed unexpectedly */
    async send(request: DryRunRequest): Promise<DryRunResponse> {
      requestCount += 1;
      const token = exampleToken(client, `example-${requestCount}`, `example:${requestCount}`);
      const sent = request.isAnonymous ? undefined : client?.write(token);
      const { response, exchange, error } = await handle(createAlphaRequest(request, sent, pack));
      if (error !== undefined) throw error;
      if (!exchange) throw new Error("The pipeline did not record the request");
      return {
        response: { ...response, body: response.body.toString() },
        context: exchange.context,
        exchange,
      };
    },
  };
}
