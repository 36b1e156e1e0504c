/** The queue of requests that wait to be compared with the candidate. */
import { beforeEach, expect, test } from "@jest/globals";
import { NO_CLIENTS } from "../../../src/audit/clients/client-directory.ts";
import { createLiveComparison } from "../../../src/compare/candidate/compare-live.ts";
import type { OtherPack } from "../../../src/compare/candidate/candidate-answer.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import type { Log } from "../../../src/base/log/log.ts";
import type { Compared, Exchange } from "../../../src/compare/answers/comparison.ts";
import { NO_PLAN_IN_FORCE } from "../../../src/migration/plan/plan-in-force.ts";
import type { Settings } from "../../../src/base/settings/setting-definitions.ts";
import { waitFor } from "../../support/wait-for.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

let pack: Pack;
let reported: Compared[];
let errors: unknown[];
beforeEach(() => {
  const folder = writeSmallPack({
    client: { credentials: { scheme: "token" } },
    upstream: { credentials: { scheme: "Bearer" } },
  });
  pack = loadPack(folder);
  [reported, errors] = [[], []];
});

const catalogs = { missing: () => [] } as unknown as OtherPack["catalogs"];

function open(candidate: () => OtherPack, rate = 1000): ReturnType<typeof createLiveComparison> {
  return createLiveComparison({ CANDIDATE_RATE: rate, NATIVE_PROXY: false } as Settings, {
    candidate,
    directory: () => NO_CLIENTS,
    plan: NO_PLAN_IN_FORCE,
    report: (compared) => void reported.push(compared),
    log: { error: (context: object) => void errors.push(context) } as unknown as Log,
  });
}

/** A request that v4 has answered. */
const exchangeOf = (address: string, bytes = 10): Exchange =>
  ({
    request: { id: "r1", method: "GET", path: "/books/7", query: "", headers: {}, address },
    outcome: {
      status: 200,
      meaning: "succeeded",
      response: { status: 200, headers: {}, body: Buffer.alloc(bytes) },
    },
    context: {
      time: new Date(),
      match: { route: pack.route("GET /books/:id") },
      upstream: { isTokenAccepted: true, calls: [], cachedReads: [] },
    },
  }) as unknown as Exchange;

test("a candidate that can't be prepared leaves out the request, and the next one is compared", async () => {
  const broken = { pack: { hash: "1" }, catalogs } as unknown as OtherPack;
  let candidate = broken;
  const comparison = open(() => candidate);
  comparison.offer(pack, exchangeOf("192.0.2.1"));
  await waitFor(() => errors.length > 0);
  expect(errors).toMatchObject([{ code: "AG_CANDIDATE_COMPARISON_FAILED", requestId: "r1" }]);
  candidate = { pack, catalogs, upstreamTokens: undefined };
  comparison.offer(pack, exchangeOf("192.0.2.1"));
  expect(await waitFor(() => reported[0])).toMatchObject({ source: "candidate", route: "GET /books/:id" });
  comparison.stop();
});

test.each([40, 4000])("one client with %i requests leaves places for those of others", (requests) => {
  const other = { pack, catalogs, upstreamTokens: undefined };
  const comparison = open(() => other, 1);
  for (let n = 0; n < requests; n += 1) comparison.offer(pack, exchangeOf("192.0.2.1"));
  expect(reported).toHaveLength(requests - 25);
  comparison.offer(pack, exchangeOf("198.51.100.1"));
  expect(reported).toHaveLength(requests - 25);
  expect(new Set(reported.map(({ reason }) => reason))).toEqual(new Set(["budget"]));
  comparison.stop();
});

test("one client with large responses leaves memory for those of other clients", () => {
  const other = { pack, catalogs, upstreamTokens: undefined };
  const comparison = open(() => other, 1);
  for (let n = 0; n < 8; n += 1) comparison.offer(pack, exchangeOf("192.0.2.1", 1024 * 1024));
  expect(reported).toHaveLength(4);
  comparison.offer(pack, exchangeOf("198.51.100.1", 1024 * 1024));
  expect(reported).toHaveLength(4);
  comparison.stop();
});
