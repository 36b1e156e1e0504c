/** Internal errors: one request fails, its client gets a neutral 500, and the error is logged (L-31). */
import { afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { emptyTokenStore } from "../../../src/compare/dry-run/dry-run.ts";
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import { createAlphaPipeline, type PipelineDependencies } from "../../../src/gateway/pipeline/pipeline.ts";
import { createMemoryLimiter } from "../../../src/gateway/limits/limiter.ts";
import { createRateLimits } from "../../../src/gateway/limits/rate-limits.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { createPipelineConfig } from "../../../src/gateway/pipeline/pipeline-config.ts";
import { connectCatalogs } from "../../../src/gateway/upstream/catalog-cache.ts";
import { createTokenCache } from "../../../src/gateway/auth/token-cache.ts";
import { createTokenLocks } from "../../../src/gateway/auth/token-locks.ts";
import type { HttpResponse } from "../../../src/gateway/upstream/http-call.ts";
import { NO_PLAN } from "../../../src/gateway/request/plan.ts";
import { packIn } from "../../support/packs.ts";

let pack: Pack;
let loggedErrors: unknown[];
let stop = () => {};
beforeAll(() => {
  pack = packIn("mappings");
});
beforeEach(() => {
  loggedErrors = [];
});
afterEach(() => stop());

const RATE = { points: 10, seconds: 10 };
const empty: HttpResponse = { status: 200, headers: {}, bytes: Buffer.from("{}"), ms: 1 };

function createPipeline(
  parts: Partial<PipelineDependencies>,
  call: () => Promise<HttpResponse> = async () => empty,
) {
  const upstream = { call, close: async () => {} };
  const catalogs = connectCatalogs(pack, upstream, 600, () => {});
  stop = () => catalogs.stop();
  return createAlphaPipeline({
    ...createPipelineConfig(pack),
    upstream,
    files: { stream: async () => Promise.reject(new Error("no files here")) },
    catalogs,
    tokens: createTokenCache({ size: 9, ttlSeconds: 9, negativeTtlSeconds: 9 }),
    tokenStore: emptyTokenStore,
    tokenLocks: createTokenLocks(),
    plan: NO_PLAN,
    limits: createRateLimits(createMemoryLimiter(RATE), createMemoryLimiter(RATE)),
    record: () => {},
    onUnexpectedError: (error, { id }) => loggedErrors.push([(error as Error).message, id]),
    ...parts,
  });
}

const request: AlphaRequest = {
  id: "my-id",
  startedAt: performance.now(),
  method: "DELETE",
  path: "/v4/vm/instances/7",
  query: "",
  headers: { authorization: ["token t"] },
  address: "192.0.2.1",
  signal: new AbortController().signal,
};

const failing = (message: string) => async (): Promise<never> => {
  throw new TypeError(message);
};

test("nothing fails", async () => {
  expect(await createPipeline({})(request)).toMatchObject({ status: 200, body: Buffer.from("{}") });
  expect(loggedErrors).toEqual([]);
});

test.each<[string, () => Partial<PipelineDependencies>, (() => Promise<HttpResponse>) | undefined]>([
  ["the client of v4", () => ({}), failing("secret of 10.0.0.1")],
  [
    "the limits",
    () => ({ limits: { consume: failing("secret of 10.0.0.1"), consumeAddress: failing(""), size: 0 } }),
    undefined,
  ],
  [
    "the memory of tokens",
    () => ({
      tokens: {
        ...createTokenCache({ size: 9, ttlSeconds: 9, negativeTtlSeconds: 9 }),
        get: () => {
          throw new TypeError("secret of 10.0.0.1");
        },
      },
    }),
    undefined,
  ],
  ["the audit that the response waits for", () => ({ record: failing("secret of 10.0.0.1") }), undefined],
  [
    "the audit, before it has begun",
    () => ({
      record: () => {
        throw new TypeError("secret of 10.0.0.1");
      },
    }),
    undefined,
  ],
])(
  "L-31 %s fails: 500 with the request's id and without the error's text, and the error is logged once",
  async (_name, parts, call) => {
    const response = await createPipeline(parts(), call)(request);
    expect(response).toMatchObject({
      status: 500,
      headers: { "x-request-id": "my-id", "content-type": "application/json" },
    });
    expect(JSON.parse(response.body.toString())).toEqual({
      errors: [{ reason: "The service could not process this request (my-id)." }],
    });
    expect(loggedErrors).toEqual([["secret of 10.0.0.1", "my-id"]]);
  },
);
