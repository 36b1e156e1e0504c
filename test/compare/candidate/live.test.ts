/** Answers that clients got, compared with those of the candidate over the same responses of v4. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { countDistinct } from "../../../src/compare/counts/summary.ts";
import { readComparisons, type RouteCounts } from "../../../src/compare/counts/counts.ts";
import {
  readExamples,
  splitCall,
  type ExampleDefinition,
  sentHeaders,
} from "../../../src/authoring/examples/example.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { json, startFakeV4, type FakeV4, type Responder } from "../../support/fake-v4.ts";
import { RECORDING, openGateway, type TestGateway, type TestSettings } from "../../support/gateway.ts";
import { copyPack } from "../../support/pack-copy.ts";
import { request, type RequestOptions } from "../../support/request.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";
import { waitForCandidate } from "./wait-for-candidate.ts";

let data: string;
beforeEach(() => {
  data = temporaryFolder();
});

/** What was counted, once this many requests were. */
async function readRoutes(requests: number): Promise<Readonly<Record<string, RouteCounts>>> {
  for (;;) {
    const store = openSqliteKeyValueStore({ directory: data });
    const [counts] = await readComparisons(store);
    await store.close();
    const routes = counts?.routes ?? {};
    if (Object.values(routes).reduce((sum, { comparisons }) => sum + comparisons, 0) >= requests)
      return routes;
    await wait(50);
  }
}

const CREDENTIALS = {
  client: { credentials: { scheme: "token" } },
  upstream: { credentials: { scheme: "Bearer" } },
};
const AUTHORIZATION = { authorization: "token secret-token-of-ann" };

const WRITABLE = {
  fields: { id: "id", title: "name" },
  bodies: { create: { schema: { type: "object", properties: { title: { type: "string" } } } } },
  routes: [{ client: "POST /books", upstream: "POST /items", body: "create" }],
};

describe("a request under a candidate", () => {
  let service: FakeV4;
  let gateway: TestGateway;
  beforeEach(async () => {
    service = await startFakeV4();
    service.respondWith(json(200, { id: 7, name: "Emma" }));
  });

  async function open(active: SmallPack, candidate: SmallPack, settings: TestSettings = {}): Promise<void> {
    const [first, second] = [active, candidate].map((pack) => writeSmallPack({ ...CREDENTIALS, ...pack }));
    // Packs of the same text are one pack.
    appendFileSync(join(second ?? "", "book.yaml"), "# the candidate\n");
    gateway = await openGateway({
      UPSTREAM_URL: service.url,
      MAPPINGS_DIR: first ?? "",
      CANDIDATE_MAPPINGS_DIR: second ?? "",
      CANDIDATE_RATE: "1000",
      DATA_DIR: data,
      ...settings,
    });
    await waitForCandidate(gateway);
  }

  const ask = (call = "GET /books/7", options: RequestOptions = {}) =>
    request(gateway.app, call, { ...options, headers: { ...AUTHORIZATION, ...options.headers } });

  test("that answers the same is equal, and v4 gets no further call", async () => {
    await open({}, {});
    for (let count = 0; count < 3; count += 1) expect((await ask()).body).toEqual({ id: 7, title: "Emma" });
    const { "GET /books/:id": books } = await readRoutes(3);
    expect(books).toMatchObject({ equal: 3, different: 0 });
    expect(books && countDistinct(books)).toBe(1);
    expect(service.calls).toHaveLength(3);
    const { text } = await gateway.requestAdmin("GET /metrics");
    expect(text).toMatch(/comparisons_total\{[^}]*source="candidate"[^}]*result="equal"[^}]*\} 3$/m);
  });

  test("whose record must be durable before its response is compared as well", async () => {
    await open({}, {}, RECORDING);
    await ask();
    expect(await readRoutes(1)).toMatchObject({ "GET /books/:id": { equal: 1 } });
  });

  test("that answers in other words is different, by field, with examples without the token", async () => {
    service.respondWith(json(200, { id: 7, name: "Emma", token: "secret-token-of-ann" }));
    await open({}, { book: { fields: { id: "id", heading: "name", extra: "token" } } });
    const { body } = await ask();
    expect(body).toEqual({ id: 7, title: "Emma" });
    const { "GET /books/:id": found } = await readRoutes(1);
    expect(found).toMatchObject({ different: 1, equal: 0 });
    expect(found?.fields.map(({ field, kind }) => `${field} ${kind}`).sort()).toEqual([
      "extra added",
      "heading added",
      "title missing",
    ]);
    const store = openSqliteKeyValueStore({ directory: data });
    const example = await store.get(`parity:example:${found?.fields[0]?.examples[0]?.id}`);
    await store.close();
    expect(example).toContain("Emma");
    expect(example).not.toContain("secret-token");
  });

  test("that would make another call can't be compared", async () => {
    await open({}, { book: { routes: [{ client: "GET /books/:id", upstream: "GET /things/{id}" }] } });
    await ask();
    expect(await readRoutes(1)).toMatchObject({ "GET /books/:id": { notComparable: { calls: 1 } } });
    expect(service.calls).toHaveLength(1);
  });

  test("that refuses it is different: no call is needed to know that", async () => {
    await open({}, { book: { routes: [{ client: "GET /tomes/:id", upstream: "GET /items/{id}" }] } });
    await ask();
    const { "GET /books/:id": found } = await readRoutes(1);
    expect(found).toMatchObject({ different: 1, fields: [{ field: "status", kind: "status" }] });
  });

  test("that fails on v4's response is different", async () => {
    await open({}, { book: { fields: { id: "id", title: { upstream: "name", read: "$value + 1" } } } });
    expect((await ask()).status).toBe(200);
    const { "GET /books/:id": found } = await readRoutes(1);
    expect(found).toMatchObject({ different: 1, fields: [{ field: "status" }] });
  });

  test("that writes is compared without a second write, if it would send the same", async () => {
    await open({ book: WRITABLE }, { book: WRITABLE });
    const created = await ask("POST /books", { body: { title: "Emma" } });
    expect(created.status).toBe(200);
    expect(await readRoutes(1)).toMatchObject({ "POST /books": { equal: 1 } });
    expect(service.calls).toHaveLength(1);
  });

  test("that would write something else can't be compared", async () => {
    const changed = { ...WRITABLE, fields: { ...WRITABLE.fields, title: "label" } };
    await open({ book: WRITABLE }, { book: changed });
    await ask("POST /books", { body: { title: "Emma" } });
    expect(await readRoutes(1)).toMatchObject({ "POST /books": { notComparable: { calls: 1 } } });
    expect(service.calls).toHaveLength(1);
  });

  test("is compared with what was kept of an earlier response of v4, too", async () => {
    const book = {
      fields: { id: "id", title: "name", shelf: { read: "$calls.shelf.name" } },
      routes: [
        {
          client: "GET /books/:id",
          upstream: "GET /items/{id}",
          calls: [{ name: "shelf", upstream: "GET /shelves", cache_seconds: 60 }],
        },
      ],
    };
    const respond: Responder = (call, response) =>
      json(200, call.path.includes("shelves") ? { name: "A" } : { id: 7, name: "Emma" })(call, response);
    service.respondWith(respond);
    await open({ book }, { book });
    for (let count = 0; count < 3; count += 1) expect((await ask()).body.shelf).toBe("A");
    expect(await readRoutes(3)).toMatchObject({ "GET /books/:id": { equal: 3, notComparable: {} } });
    expect(service.calls).toHaveLength(4);
  });

  test("of v4 that fails can't be compared, and one of a token that v4 does not know is not", async () => {
    await open({}, {});
    service.respondWith(json(401, {}));
    expect((await ask()).status).toBe(401);
    service.respondWith(json(500, {}));
    await ask("GET /books/8", { headers: { authorization: "token another" } });
    service.respondWith(json(200, { id: 7, name: "Emma" }));
    await ask("GET /books/9", { headers: { authorization: "token third" } });
    expect(await readRoutes(1)).toMatchObject({ "GET /books/:id": { equal: 1, comparisons: 1 } });
    service.respondWith(json(500, {}));
    await ask("GET /books/8", { headers: { authorization: "token third" } });
    expect(await readRoutes(2)).toMatchObject({ "GET /books/:id": { notComparable: { failed: 1 } } });
  });

  test("beyond the budget is left out and counted", async () => {
    await open({}, {}, { CANDIDATE_RATE: "1" });
    await Promise.all(Array.from({ length: 120 }, () => ask()));
    const { "GET /books/:id": found } = await readRoutes(19);
    expect(found?.notComparable.budget).toBeGreaterThanOrEqual(19);
    expect(found?.equal).toBeLessThan(19);
  });

  test("is not compared at a rate of 0, and testers reach the candidate all the same", async () => {
    await open({}, {}, { CANDIDATE_RATE: "0" });
    await ask();
    const { text } = await gateway.requestAdmin("GET /metrics");
    expect(text).toContain("alpha_gateway_candidate_offered 1");
    expect(text).not.toMatch(/comparisons_total\{/);
  });
});

/** v4 as a golden case has it. */
function respondAs({ upstream }: ExampleDefinition): Responder {
  const left = [...upstream];
  return (call, response) => {
    const index = left.findIndex(({ request: line }) => {
      const { method, path } = splitCall(line, "/v4");
      return method === call.method && decodeURIComponent(path) === decodeURIComponent(call.path);
    });
    const [found] = index === -1 ? [] : left.splice(index, 1);
    if (!found) return json(404, { errors: [{ reason: "Not found" }] })(call, response);
    const { status, headers, body } = found.response;
    return json(status, body ?? {}, { "x-oauth-scopes": "*", ...headers })(call, response);
  };
}

describe("the shipped pack", () => {
  test("answers each of its golden cases as itself, without a further call of v4", async () => {
    const cases = readExamples("mappings", []).examples.map(({ definition }) => definition);
    const copy = copyPack();
    appendFileSync(join(copy.folder, "pack.yaml"), "\n# the candidate\n");
    const service = await startFakeV4();
    const gateway = await openGateway({
      UPSTREAM_URL: service.url,
      CANDIDATE_MAPPINGS_DIR: copy.folder,
      CANDIDATE_RATE: "1000",
      DATA_DIR: data,
    });
    await waitForCandidate(gateway);
    for (const [index, definition] of cases.entries()) {
      if (definition.file !== undefined) continue;
      service.respondWith(respondAs(definition));
      const { method, path } = splitCall(definition.request, "/v4");
      await gateway.request(`${method} ${path}`, {
        as: `token-${index}`,
        headers: sentHeaders(definition),
        ...(definition.body !== undefined && { body: definition.body }),
      });
      // Comparisons take place between requests.
      await wait(2);
    }
    const routes = Object.values(await readRoutes(cases.length / 2));
    const sum = (count: (route: RouteCounts) => number): number =>
      routes.reduce((total, route) => total + count(route), 0);
    expect(routes.flatMap(({ fields }) => fields)).toEqual([]);
    expect(sum(({ notComparable }) => notComparable.calls ?? 0)).toBe(0);
    expect(sum(({ equal }) => equal)).toBeGreaterThan(cases.length / 2);
    // Each call was made for a client.
    expect(service.calls.length).toBeLessThanOrEqual(cases.at(-1)?.upstream.length ?? 0);
  });
});
