/** What strangers and one customer can do to what comparisons say to all others. */
import { writeFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { openGateway, startListeningGateway, type TestGateway } from "../../support/gateway.ts";
import { proxyTo, startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import type { RequestOptions, TestResponse } from "../../support/request.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIST = "GET /vm/instances";
const OTHER_TOKEN = "another-token-of-the-shop";

let real: Awaited<ReturnType<typeof startListeningGateway>>;
let old: TestOldService;
let gateway: TestGateway;
let rolloutFile: string;
const COMPARE = "data: shared\ncompare: { share: 100%, per_second: 1000, client_share: 100% }\n";
beforeEach(async () => {
  real = await startListeningGateway();
  old = await startOldService({ inFrontOf: real.url });
  const { tokens } = real.sandbox;
  const shop = [tokens["full"] ?? "", OTHER_TOKEN].map((token) => `"${fingerprint(tokenHash(token))}"`);
  rolloutFile = writeOperatorFile(COMPARE, "rollout.yaml");
  gateway = await openGateway(
    {
      UPSTREAM_URL: real.sandbox.url,
      LEGACY_URL: old.url,
      CLIENTS_FILE: writeOperatorFile(`shop: { tokens: [${shop.join(", ")}] }\n`, "clients.yaml"),
      ROLLOUT_FILE: rolloutFile,
      RATE_LIMIT: "100000/60",
      TRUST_PROXY: "127.0.0.1",
    },
    tokens,
  );
});

const call = (
  line: string,
  options: RequestOptions & { readonly as?: string | null } = {},
): Promise<TestResponse> => gateway.request(line, options);

/** What was counted of a route; undefined for nothing. */
async function countsOf(route: string): Promise<TestResponse["body"]> {
  const { body } = await gateway.requestAdmin("GET /api/parity?source=legacy&rate=0.01");
  return body.sources[0]?.routes.find((each: TestResponse["body"]) => each.route === route);
}

const countsAfter = (comparisons: number, route = LIST): Promise<TestResponse["body"]> =>
  waitFor(async () => {
    const counts = await countsOf(route);
    return counts?.comparisons >= comparisons ? counts : undefined;
  });

describe("what proves that answers do not differ", () => {
  test.each([3, 300])("are no answers to %i strangers, with any parameters", async (strangers) => {
    const sent = Array.from({ length: strangers }, (_, n) =>
      call(`${LIST}?page=${n + 1}&x=${n}`, { as: `invented-${n}` }),
    );
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([401]));
    await call(LIST);
    expect(await countsAfter(1)).toMatchObject({ comparisons: 1, distinct: 1, clients: 1 });
  });

  test.each([3, 60])(
    "is one answer, however many parameters that nobody reads stand beside it: %i",
    async (requests) => {
      for (let n = 0; n < requests; n += 1) await call(`${LIST}?x=${n}&page=1`);
      expect(await countsAfter(requests)).toMatchObject({ equal: requests, distinct: 1 });
    },
  );

  test("are no refusals", async () => {
    for (let n = 0; n < 10; n += 1) expect((await call(`${LIST}/${900_000 + n}`)).status).toBe(404);
    expect(await countsAfter(10, `${LIST}/:id`)).toMatchObject({
      equal: 10,
      distinct: 0,
      verdict: "not enough",
    });
  });

  test.each([35, 60])("is no client alone, with %i cases", async (cases) => {
    for (let page = 1; page <= cases; page += 1)
      expect((await call(`${LIST}?page=${page}`)).status).toBe(200);
    expect(await countsAfter(cases)).toMatchObject({
      equal: cases,
      // A tenth of 299.
      distinct: 30,
      required: 299,
      clients: 1,
      verdict: "not enough",
    });
  });
});

test.each([1, 20])("one token is one client, from however many addresses: %i", async (addresses) => {
  for (let page = 1; page <= 60; page += 1) {
    const headers = { "x-forwarded-for": `203.0.113.${page % addresses}` };
    expect(
      (await call(`${LIST}?page=${page}`, { as: real.sandbox.tokens["readOnly"], headers })).status,
    ).toBe(200);
  }
  expect(await countsAfter(60)).toMatchObject({
    equal: 60,
    distinct: 30,
    required: 299,
    clients: 1,
    verdict: "not enough",
  });
});

test("tokens of one network, with reads that are slow at the old service, leave connections to comparisons of other clients", async () => {
  const proxy = proxyTo(real.url);
  const slow: (() => void)[] = [];
  old.respondWith((received, response) => {
    if (received.path.includes("slow")) slow.push(() => void response.destroy());
    else proxy(received, response);
  });
  writeFileSync(rolloutFile, `${COMPARE}new: all\n`);
  await gateway.reload();
  const { full, ...others } = real.sandbox.tokens;
  const attackers = Object.values(others);
  expect(attackers.length).toBeGreaterThan(3);
  const headers = { "x-forwarded-for": "203.0.113.6" };
  for (const as of attackers) await call(LIST, { as, headers });
  await Promise.all(
    attackers.flatMap((as) => [1, 2].map(() => call(`${LIST}?slow`, { as, headers }).catch(() => {}))),
  );
  await call(`${LIST}?page=7`, { as: full });
  const counts = await countsAfter(1);
  expect(counts.equal).toBeGreaterThan(0);
  expect(slow.length).toBeLessThan(3);
  for (const end of slow) end();
});

describe("a native write while a comparison reads", () => {
  test.each([
    ["the same token", (): string => real.sandbox.tokens["full"] ?? ""],
    ["another token of the same client", () => OTHER_TOKEN],
  ])("with %s makes it void", async (_what, token) => {
    const proxy = proxyTo(real.url);
    let answer = (): void => {};
    old.respondWith((received, response) => void (answer = () => proxy(received, response)));
    const reading = call(`${LIST}/5201`);
    await waitFor(() => old.calls.length > 0);
    await call("DELETE /v4/vm/instances/999999", {
      as: null,
      headers: { authorization: `Bearer ${token()}` },
    });
    answer();
    expect((await reading).status).toBe(200);
    expect(await countsAfter(1, `${LIST}/:id`)).toMatchObject({ equal: 0, notComparable: { write: 1 } });
  });

  test("with the token of another client leaves it as it is", async () => {
    const proxy = proxyTo(real.url);
    let answer = (): void => {};
    old.respondWith((received, response) => void (answer = () => proxy(received, response)));
    const reading = call(`${LIST}/5201`);
    await waitFor(() => old.calls.length > 0);
    const authorization = `Bearer ${real.sandbox.tokens["readOnly"]}`;
    await call("DELETE /v4/vm/instances/999999", { as: null, headers: { authorization } });
    answer();
    await reading;
    expect(await countsAfter(1, `${LIST}/:id`)).toMatchObject({ equal: 1, notComparable: {} });
  });
});
