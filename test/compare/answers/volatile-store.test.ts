/** What is known of the old service outlives a process, and replicas share it. */
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { resetComparisons } from "../../../src/compare/counts/counts.ts";
import { VolatileFields } from "../../../src/compare/answers/volatile-fields.ts";
import { createVolatileStore } from "../../../src/compare/answers/volatile-store.ts";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";

/** The number of characters that the store keeps. */
const MAX_STORED = 500_000;

const ROUTE = "GET /books/:id";
const OLD = "https://old.example.com/";

let folder: string;
let store: KeyValueStore;
beforeEach(() => {
  folder = temporaryFolder();
  store = openSqliteKeyValueStore({ directory: folder });
});
afterEach(async () => {
  await store.close();
});

/** Pairs in which a field has another value each time. */
function learn(volatile: VolatileFields, pairs: number, field = "at", route = ROUTE): void {
  for (let pair = 0; pair < pairs; pair += 1)
    for (const client of ["a", "b"])
      volatile
        .seenBy(client)
        .recordPair(route, [{ field, kind: "value", old: "1", new: "2" }], [{ field, pair: [1, 2] }]);
}

/** A process that starts, and what it knows. */
async function startProcess(service = OLD): Promise<VolatileFields> {
  const volatile = new VolatileFields();
  await createVolatileStore(store, volatile, service)();
  return volatile;
}

test("a process that starts knows what another one has learned", async () => {
  const volatile = new VolatileFields();
  const exchange = createVolatileStore(store, volatile, OLD);
  learn(volatile, 60);
  await exchange();
  expect((await startProcess()).isVolatile(ROUTE, "at")).toBe(true);
});

test("a reset of the comparisons keeps it", async () => {
  const volatile = new VolatileFields();
  learn(volatile, 60);
  await createVolatileStore(store, volatile, OLD)();
  await resetComparisons(store);
  expect((await startProcess()).isVolatile(ROUTE, "at")).toBe(true);
});

test("knowledge about a different old service is ignored", async () => {
  const volatile = new VolatileFields();
  learn(volatile, 60);
  await createVolatileStore(store, volatile, OLD)();
  expect((await startProcess("https://other.example.com/")).toJSON()).toEqual({});
});

test("replicas have the better knowledge of each route afterwards", async () => {
  const [one, other] = [new VolatileFields(), new VolatileFields()];
  const [exchange, exchangeOther] = [one, other].map((each) => createVolatileStore(store, each, OLD));
  learn(one, 60, "at", "GET /a");
  learn(other, 60, "at", "GET /b");
  await exchange?.();
  await exchangeOther?.();
  await exchange?.();
  for (const each of [one, other])
    expect([each.isVolatile("GET /a", "at"), each.isVolatile("GET /b", "at")]).toEqual([true, true]);
});

test("new knowledge of a process is still counted after it was stored, even after its counters were halved", async () => {
  const volatile = new VolatileFields();
  const exchange = createVolatileStore(store, volatile, OLD);
  for (let time = 0; time < 50; time += 1) {
    learn(volatile, 100);
    await exchange();
  }
  expect((await startProcess()).toJSON()[ROUTE]?.["a"]?.total).toBeGreaterThan(4500);
});

test("evidence of a client on one replica replaces no evidence of other clients on another replica", async () => {
  const [one, other] = [new VolatileFields(), new VolatileFields()];
  const [exchange, exchangeOther] = [one, other].map((each) => createVolatileStore(store, each, OLD));
  learn(one, 60);
  for (let pair = 0; pair < 6000; pair += 1) other.seenBy("poller").recordEqual(ROUTE);
  await exchange?.();
  await exchangeOther?.();
  await exchange?.();
  for (const each of [one, other, await startProcess()]) expect(each.isVolatile(ROUTE, "at")).toBe(true);
});

test("the store is not written for each pair", async () => {
  const volatile = new VolatileFields();
  const replace = jest.spyOn(store, "replace");
  const exchange = createVolatileStore(store, volatile, OLD);
  learn(volatile, 1000);
  for (let time = 0; time < 50; time += 1) {
    learn(volatile, 1);
    await exchange();
  }
  expect(replace).not.toHaveBeenCalled();
});

test("stored knowledge is bounded, and a client with many fields leaves room for other clients", async () => {
  const volatile = new VolatileFields();
  for (let route = 0; route < 100; route += 1)
    for (let field = 0; field < 50; field += 1)
      volatile.seenBy("noisy").recordPair(
        `GET /${route}`,
        [
          {
            field: `a field with a long name ${field} ${"x".repeat(150)}`,
            kind: "value",
            old: "1",
            new: "2",
          },
        ],
        [],
      );
  learn(volatile, 60, "at", "GET /7");
  expect(JSON.stringify(volatile).length).toBeGreaterThan(2 * MAX_STORED);
  await createVolatileStore(store, volatile, OLD)();
  const started = await startProcess();
  expect(started.isVolatile("GET /7", "at")).toBe(true);
  const stored = JSON.stringify(started).length;
  expect([stored > MAX_STORED / 2, stored <= MAX_STORED * 1.01]).toEqual([true, true]);
});
