import { Readable } from "node:stream";
import { scheduleBrownOuts } from "../pipeline/brown-outs/brown-outs.ts";
import type { AlphaResponse, AlphaRequest, RequestContext } from "../pipeline/context.ts";
import { createAlphaPipeline, type PipelineDependencies } from "../pipeline/pipeline.ts";
import { createMemoryLimiter } from "../rate-limit/limiter.ts";
import { createRateLimits } from "../rate-limit/rate-limits.ts";
import type { Pack } from "../mapping/pack.ts";
import { createPipelineConfig } from "../app/pipeline-config.ts";
import { connectCatalogs } from "../app/connect-catalogs.ts";
import { createTokenCache, type TokenInfo } from "../auth/token-cache.ts";
import { createTokenLocks } from "../auth/token-locks.ts";
import type { Upstream } from "../upstream/client.ts";
import type { FileUpstream } from "../upstream/file-client.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";

/** A request without HTTP. */
export interface DryRunRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The media type of a file that is uploaded instead of a body. */
  readonly file?: string | undefined;
  /** The address of the client. Default: an address for documentation. */
  readonly address?: string;
}

/** The response, and what the pipeline recorded about the request. */
export interface DryRunResponse {
  readonly response: Omit<AlphaResponse, "body"> & { readonly body: string };
  readonly context: RequestContext;
}

/** The whole pipeline in front of an upstream without a network. */
export interface DryRun {
  readonly catalogs: CatalogCache;
  /** @throws the error of a request that failed unexpectedly */
  send(request: DryRunRequest): Promise<DryRunResponse>;
}

const UNLIMITED = { points: 1_000_000_000, seconds: 1 };

function createAlphaRequest(
  { method, path: pathAndQuery, headers = {}, body, file, address = "192.0.2.1" }: DryRunRequest,
  credentials: string,
): AlphaRequest {
  const [path = "", query = ""] = pathAndQuery.split("?", 2);
  const allHeaders = Object.entries({
    authorization: credentials,
    ...(file !== undefined && { "content-type": file }),
    ...headers,
  });
  return {
    id: "example",
    startedAt: performance.now(),
    method,
    path,
    query,
    headers: Object.fromEntries(allHeaders.map(([name, value]) => [name.toLowerCase(), [value]])),
    ...(body !== undefined && { readBody: async () => Buffer.from(JSON.stringify(body)) }),
    ...(file !== undefined && { openUpload: () => Readable.from([Buffer.from("a file")]) }),
    address,
    signal: new AbortController().signal,
  };
}

/** Streams files from responses that are in memory. */
const createFileUpstream = (upstream: Upstream): FileUpstream => ({
  async stream({ method, path, headers, body }) {
    body?.resume();
    const response = await upstream.call({ method, path, headers });
    return { ...response, body: Readable.from([Buffer.from(response.text)]) };
  },
});

/** A token store without tokens: all tokens are v4's own. */
export const emptyTokenStore: PipelineDependencies["tokenStore"] = {
  find: () => undefined,
  findReplacement: async () => undefined,
  save: async ({ token }) => token,
  saveLevels: async () => {},
  findLevels: async () => undefined,
};

/**
 * Creates the pipeline of a pack, without rate limits and without a token store.
 *
 * @param upstream responds in place of v4
 */
export function createDryRun(pack: Pack, upstream: Upstream): DryRun {
  const { dialect } = pack;
  const catalogs = connectCatalogs(pack, upstream, 3600, () => undefined);
  // All tokens are accepted: none is verified before an upload.
  const acceptedTokens = {
    ...createTokenCache({ size: 1, ttlSeconds: 1, negativeTtlSeconds: 0 }),
    get: (): TokenInfo => ({ refused: false, grants: undefined }),
  };
  // Each request has another token, so that nothing is cached from one request to the next.
  let requestCount = 0;
  let lastContext: RequestContext | undefined;
  let unexpectedError: unknown;
  const handleRequest = createAlphaPipeline({
    ...createPipelineConfig(pack),
    brownOuts: scheduleBrownOuts([]),
    upstream,
    files: createFileUpstream(upstream),
    catalogs,
    tokens: acceptedTokens,
    tokenLocks: createTokenLocks(),
    tokenStore: emptyTokenStore,
    limits: createRateLimits(createMemoryLimiter(UNLIMITED), createMemoryLimiter(UNLIMITED)),
    record: (_request, _outcome, context) => {
      lastContext = context;
    },
    onUnexpectedError: (error) => {
      unexpectedError = error;
    },
  });
  return {
    catalogs,
    async send(request) {
      unexpectedError = undefined;
      const credentials = `${dialect.client.credentials?.scheme} example-${(requestCount += 1)}`;
      const response = await handleRequest(createAlphaRequest(request, credentials));
      response.file?.stream.resume();
      if (unexpectedError !== undefined) throw unexpectedError;
      await response.recorded;
      if (!lastContext) throw new Error("The pipeline did not record the request");
      return { response: { ...response, body: response.body.toString() }, context: lastContext };
    },
  };
}
