import { Readable } from "node:stream";
import { scheduleBrownOuts } from "../pipeline/brown-outs/brown-outs.ts";
import type { AlphaResponse, AlphaRequest, RequestContext } from "../pipeline/context.ts";
import { createAlphaPipeline, type PipelineDependencies } from "../pipeline/pipeline.ts";
import { createMemoryLimiter } from "../rate-limit/memory-limiter.ts";
import { createRateLimits } from "../rate-limit/rate-limits.ts";
import type { Pack } from "../mapping/pack.ts";
import { createPipelineConfig } from "../app/pipeline-config.ts";
import { connectCatalogs } from "../app/connect-catalogs.ts";
import { createTokenCache, type TokenInfo } from "../auth/token-cache.ts";
import { createTokenLocks } from "../auth/token-locks.ts";
import type { Upstream } from "../upstream/client.ts";
import type { FileUpstream } from "../upstream/file-client.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";

/** A request as someone writes it down. */
export interface WrittenRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The type of a file that is sent in place of a body. */
  readonly file?: string | undefined;
  /** The client's; some address where it does not matter. */
  readonly address?: string;
}

export interface DryRunResponse {
  readonly response: Omit<AlphaResponse, "body"> & { readonly body: string };
  readonly context: RequestContext;
}

/** The whole road over a v4 that is only pretended: the same stops, no network. */
export interface DryRun {
  readonly catalogs: CatalogCache;
  send(request: WrittenRequest): Promise<DryRunResponse>;
}

const ENDLESS = { points: 1_000_000_000, seconds: 1 };

function plain(
  { method, path, headers = {}, body, file, address = "192.0.2.1" }: WrittenRequest,
  credentials: string,
): AlphaRequest {
  const [before = "", query = ""] = path.split("?", 2);
  const given = Object.entries({
    authorization: credentials,
    ...(file !== undefined && { "content-type": file }),
    ...headers,
  });
  return {
    id: "example",
    startedAt: performance.now(),
    method,
    path: before,
    query,
    headers: Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), [value]])),
    ...(body !== undefined && { readBody: async () => Buffer.from(JSON.stringify(body)) }),
    ...(file !== undefined && { openUpload: () => Readable.from([Buffer.from("a file")]) }),
    address,
    signal: new AbortController().signal,
  };
}

/** Files by the same pretended calls. */
const filesOver = (upstream: Upstream): FileUpstream => ({
  async stream({ method, path, headers, body }) {
    body?.resume();
    const answer = await upstream.call({ method, path, headers });
    return { ...answer, body: Readable.from([Buffer.from(answer.text)]) };
  },
});

/** Tokens are v4's own, and what a new one may do is kept nowhere. */
export const noGrants: PipelineDependencies["tokenStore"] = {
  find: () => undefined,
  findReplacement: async () => undefined,
  save: async ({ token }) => token,
  nameLevels: async () => {},
  levelsNamed: async () => undefined,
};

/** Builds the road of a pack over a pretended v4. */
export function createDryRun(pack: Pack, upstream: Upstream): DryRun {
  const { dialect } = pack;
  const catalogs = connectCatalogs(pack, upstream, 3600, () => undefined);
  // v4 has taken them all: none is checked before a file is sent.
  const knownTokens = {
    ...createTokenCache({ size: 1, ttlSeconds: 1, negativeTtlSeconds: 0 }),
    get: (): TokenInfo => ({ refused: false, grants: undefined }),
  };
  // Each request with a token of its own: nothing that is kept for one serves another.
  let sent = 0;
  let last: RequestContext | undefined;
  let unforeseen: unknown;
  const road = createAlphaPipeline({
    ...createPipelineConfig(pack),
    brownOuts: scheduleBrownOuts([]),
    upstream,
    files: filesOver(upstream),
    catalogs,
    tokens: knownTokens,
    tokenLocks: createTokenLocks(),
    tokenStore: noGrants,
    limits: createRateLimits(createMemoryLimiter(ENDLESS), createMemoryLimiter(ENDLESS)),
    record: (_request, _outcome, notes) => {
      last = notes;
    },
    onUnexpectedError: (error) => {
      unforeseen = error;
    },
  });
  return {
    catalogs,
    async send(request) {
      unforeseen = undefined;
      const answer = await road(plain(request, `${dialect.alpha.scheme} example-${(sent += 1)}`));
      answer.file?.stream.resume();
      if (unforeseen !== undefined) throw unforeseen;
      await answer.recorded;
      if (!last) throw new Error("the road left no notes");
      return { response: { ...answer, body: answer.body.toString() }, context: last };
    },
  };
}
