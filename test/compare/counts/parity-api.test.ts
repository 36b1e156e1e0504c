/** `/api/parity` of a gateway: what comparisons have found. */
import { beforeEach, expect, test } from "@jest/globals";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { openComparisons } from "../../../src/compare/counts/comparisons.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { answer, different, equal } from "./make-compared.ts";

const ROUTE = "GET /vm/instances/:id";

let directory: string;
let gateway: Gateway;

beforeEach(async () => {
  directory = temporaryFolder();
  gateway = await startGateway({ DATA_DIR: directory });
});

async function compare(): Promise<void> {
  const state = openSqliteKeyValueStore({ directory });
  const comparisons = openComparisons({
    state,
    redaction: () => new Redaction({ names: [], bodyLimit: 65_536 }),
    metrics: { countComparison() {}, countNoRoom() {} },
    log: { info() {}, error() {} } as unknown as Log,
  });
  for (let n = 0; n < 300; n += 1)
    comparisons.report(equal(`${n}`, { route: ROUTE, provenBy: `client ${n % 10}` }));
  const sample = {
    method: "GET",
    path: "/v4/vm/instances/7",
    filter: null,
    old: answer({ id: 7, label: "one" }),
    new: answer({ id: 7, label: "ONE" }),
  };
  const label = { field: "label", kind: "value", old: '"one"', new: '"ONE"' } as const;
  comparisons.report(different("other", { route: "GET /account/profile", differences: [label], sample }));
  await comparisons.close();
  await state.close();
}

const get = (path: string) => gateway.requestAdmin(`GET ${path}`);

test("the parity API is empty if nothing was compared", async () => {
  expect((await get("/api/parity")).body).toEqual({ sources: [] });
  expect((await get("/api/parity/none")).status).toBe(404);
});

test("has each route with its cases, those that differ first, and an example", async () => {
  await compare();
  const { sources } = (await get("/api/parity?rate=0.01")).body;
  expect(sources).toMatchObject([
    {
      source: "candidate",
      verdict: "above",
      routes: [
        {
          route: "GET /account/profile",
          distinct: 1,
          different: 1,
          verdict: "above",
          fields: [{ field: "label" }],
        },
        {
          route: ROUTE,
          distinct: 300,
          required: 299,
          verdict: "below",
          upperBound: expect.closeTo(0.00994, 5),
        },
      ],
    },
  ]);
  const [id] = sources[0].routes[0].fields[0].examples;
  expect((await get(`/api/parity/${id}`)).body).toMatchObject({
    example: { id, differences: [{ field: "label", kind: "value", old: '"one"', new: '"ONE"' }] },
    lines: [
      { path: "id", old: "7", new: "7", isDifferent: false },
      { path: "label", old: '"one"', new: '"ONE"', isDifferent: true },
    ],
    curl: { old: expect.stringContaining("$GATEWAY"), new: expect.stringContaining("X-Pack") },
  });
});

test("the parity API accepts a route, a source and a rate, and refuses other parameters", async () => {
  await compare();
  const { sources } = (await get(`/api/parity?route=${encodeURIComponent(ROUTE)}&source=candidate`)).body;
  expect(sources).toMatchObject([{ verdict: "not enough", routes: [{ required: 2995, upperBound: null }] }]);
  expect((await get("/api/parity?source=legacy")).body).toEqual({ sources: [] });
  for (const query of ["source=other", "rate=0", "rate=x", "client=Ann"])
    expect([query, (await get(`/api/parity?${query}`)).status]).toEqual([query, 400]);
});
