/**
 * L-22: v4 has two levels and alpha four, so the gateway enforces the levels that the client requested.
 * Every route of the pack, with every level that alpha has, against every scope that v4 may have given.
 */
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import { emptyTokenStore } from "../../../src/compare/dry-run/dry-run.ts";
import { createAlphaPipeline, type PipelineDependencies } from "../../../src/gateway/pipeline/pipeline.ts";
import { createMemoryLimiter } from "../../../src/gateway/limits/limiter.ts";
import { createRateLimits } from "../../../src/gateway/limits/rate-limits.ts";
import { summarizePack } from "../../../src/pack/load/pack-summary.ts";
import { connectCatalogs } from "../../../src/gateway/upstream/catalog-cache.ts";
import { createPipelineConfig } from "../../../src/gateway/pipeline/pipeline-config.ts";
import type { TokenLookup } from "../../../src/gateway/auth/token-store.ts";
import { createTokenCache } from "../../../src/gateway/auth/token-cache.ts";
import { createTokenLocks } from "../../../src/gateway/auth/token-locks.ts";
import { UpstreamError } from "../../../src/gateway/upstream/upstream-error.ts";
import { NO_PLAN } from "../../../src/gateway/request/plan.ts";
import { packIn } from "../../support/packs.ts";

/** The scopes of A-151 to A-154 and the areas of V-177, written down here a second time on purpose. */
const LEVELS = ["view", "modify", "create", "delete"];
const AREAS: Readonly<Record<string, string>> = {
  vms: "vms",
  dnszones: "domains",
  stackscripts: "scripts",
  ips: "ips",
  nodebalancers: "loadbalancers",
  tokens: "account",
  clients: "account",
  users: "account",
  tickets: "account",
};

const pack = packIn("mappings");
const { scopes } = pack;
const routes = [...new Map(summarizePack(pack).routes.map((route) => [route.alpha, route])).values()];

/** Whether the requested and the granted scopes overlap. */
function hasAny(asked: string, given: string): boolean {
  if (asked === "" || given === "") return false;
  const [area = ""] = given.split(":");
  const [resource = ""] = asked.split(":");
  return asked === "*" || given === "*" || AREAS[resource] === area;
}

/** Whether alpha permits it, by the requested level and v4's grant. */
function allowed(call: string, needed: string, asked: string, given: string): boolean {
  if (needed === "public") return true;
  // Without scopes a token only shows the user's name and e-mail address.
  if (needed === "token") return hasAny(asked, given) || call === "GET /account/profile";
  const [resource = "", level = ""] = needed.split(":");
  const has =
    asked === "*"
      ? 3
      : asked === `${resource}:*`
        ? 3
        : LEVELS.findIndex((each) => asked === `${resource}:${each}`);
  if (has < LEVELS.indexOf(level)) return false;
  const area = AREAS[resource];
  return (
    given === "*" || given === `${area}:read_write` || (given === `${area}:read_only` && level === "view")
  );
}

const VALUES: Readonly<Record<string, string>> = {
  address: "192.0.2.7",
  address4: "192.0.2.7",
  address6: "2001:db8::7",
};
const fill = (path: string): string =>
  path.replaceAll(/:([a-z0-9_]+)/gi, (_, name: string) => VALUES[name] ?? "7");

let send: (call: string, grant: TokenLookup) => Promise<{ status: number; calls: number }>;
beforeAll(() => {
  let calls = 0;
  let found: TokenLookup;
  async function call(): Promise<never> {
    calls += 1;
    throw new UpstreamError("unreachable", "there is no v4 here");
  }
  const upstream: PipelineDependencies["upstream"] = { call, close: async () => {} };
  const plenty = { points: 1_000_000, seconds: 600 };
  const pipeline = createAlphaPipeline({
    ...createPipelineConfig(pack),
    upstream,
    files: { stream: call },
    plan: NO_PLAN,
    catalogs: { ...connectCatalogs(pack, upstream, 600, () => {}), refreshWith: async () => {} },
    tokens: createTokenCache({ size: 9, ttlSeconds: 9, negativeTtlSeconds: 9 }),
    tokenStore: { ...emptyTokenStore, find: () => found },
    tokenLocks: createTokenLocks(),
    limits: createRateLimits(createMemoryLimiter(plenty), createMemoryLimiter(plenty)),
    record: () => {},
    onUnexpectedError: (error) => {
      throw error;
    },
  });
  send = async (call, grant) => {
    const [method = "", path = ""] = call.split(" ");
    const request: AlphaRequest = {
      id: "id",
      startedAt: performance.now(),
      method,
      path: `/v4${fill(path)}`,
      query: "",
      headers: { authorization: ["token t"], "content-type": ["application/json"] },
      readBody: async () => Buffer.from(method === "GET" || method === "DELETE" ? "" : "{}"),
      address: "192.0.2.1",
      signal: new AbortController().signal,
    };
    calls = 0;
    found = grant;
    const { status } = await pipeline(request);
    return { status, calls };
  };
});

/** A token as the gateway's exchange stores it: the requested scopes within v4's grant. */
const grantOf = (asked: string, given: string): TokenLookup => {
  const levels = scopes.common(scopes.read(asked).grants, scopes.grants(given));
  return { grants: scopes.read(scopes.write(levels)).grants, token: "v4", hash: "hash", isRevoked: false };
};

const resourceOf = (needed: string): string => (needed.includes(":") ? (needed.split(":")[0] ?? "") : "vms");

test("the table covers every scope that a route of the pack requires", () => {
  const asked = new Set(routes.map(({ scope }) => scope).filter((scope) => scope.includes(":")));
  for (const scope of asked) expect(Object.keys(AREAS)).toContain(resourceOf(scope));
  expect(asked.size).toBeGreaterThan(10);
});

describe("T-5.4 least privilege for every route × every alpha level × every v4 scope", () => {
  test.each(routes.map(({ alpha, scope }) => [alpha, scope]))(
    "A-150 A-151 A-152 A-153 A-154 A-155 A-170 L-22 %s (%s)",
    async (call, needed) => {
      const resource = resourceOf(needed);
      const area = AREAS[resource];
      const other =
        resource === "vms" ? ["dnszones:delete", "domains:read_write"] : ["vms:delete", "vms:read_write"];
      const wanted = [
        "",
        ...LEVELS.map((level) => `${resource}:${level}`),
        `${resource}:*`,
        "*",
        other[0] ?? "",
      ];
      const givens = ["", `${area}:read_only`, `${area}:read_write`, "*", other[1] ?? ""];
      for (const asked of wanted) {
        for (const given of givens) {
          const { status, calls } = await send(call, grantOf(asked, given));
          const passed = ![401, 403].includes(status);
          const result = `asked ${asked || "nothing"}, given ${given || "nothing"}: ${passed ? "let in" : `${status}, ${calls} calls`}`;
          const right = allowed(call, needed, asked, given) ? "let in" : "403, 0 calls";
          expect(result).toBe(`asked ${asked || "nothing"}, given ${given || "nothing"}: ${right}`);
        }
      }
    },
  );
});

describe("while the token store cannot say whether the gateway issued a token", () => {
  const scopedRoutes = routes.filter(({ scope }) => scope.includes(":"));
  const lowest = scopedRoutes.filter(({ scope }) => scope.endsWith(":view"));
  const higher = scopedRoutes.filter(({ scope }) => !scope.endsWith(":view"));

  test.each(lowest.map(({ alpha }) => alpha))("%s is permitted: v4 has no lower level", async (call) => {
    expect([401, 403]).not.toContain((await send(call, "unknown")).status);
  });

  test.each(higher.map(({ alpha, scope }) => [alpha, scope]))("%s (%s) is rejected", async (call) => {
    expect(await send(call, "unknown")).toEqual({ status: 500, calls: 0 });
  });
});

test("an expired token is rejected on every route that requires one", async () => {
  for (const { alpha, scope } of routes) {
    if (scope === "public") continue;
    const { status, calls } = await send(alpha, { grants: "all", token: "t", hash: "h", isRevoked: true });
    expect([alpha, status, calls]).toEqual([alpha, 401, 0]);
  }
});
