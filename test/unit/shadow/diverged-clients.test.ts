import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DivergedClients } from "../../../src/shadow/diverged-clients.ts";
import { StateUnavailableError, type KeyValueStore } from "../../../src/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/storage/sqlite-store.ts";

let folder: string;
let store: KeyValueStore;
let calls: number;
let isDown: boolean;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "diverged-"));
  store = openSqliteKeyValueStore({ directory: folder });
  [calls, isDown] = [0, false];
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** A store that counts its calls, and can be down. */
const counted = (): KeyValueStore =>
  new Proxy(store, {
    get:
      (target, name: keyof KeyValueStore) =>
      (...args: readonly unknown[]) => {
        calls += 1;
        if (isDown) throw new StateUnavailableError("The state store failed");
        return (target[name] as (...args: readonly unknown[]) => unknown)(...args);
      },
  });

test("clients that have written are known at once here, and to all replicas with the next look", async () => {
  const [one, other] = [new DivergedClients(store), new DivergedClients(store)];
  one.note("billing");
  expect([one.has("billing"), one.has("reports"), other.has("billing")]).toEqual([true, false, false]);
  await one.refresh();
  await other.refresh();
  expect(other.has("billing")).toBe(true);
});

test("many clients are shared with one write", async () => {
  const clients = new DivergedClients(counted());
  for (let index = 0; index < 5000; index += 1) clients.note(`client-${index}`);
  await clients.refresh();
  expect(calls).toBe(2);
  const restarted = new DivergedClients(store);
  await restarted.refresh();
  expect([restarted.has("client-0"), restarted.has("client-4999")]).toEqual([true, true]);
});

test("what could not be shared waits", async () => {
  const clients = new DivergedClients(counted());
  clients.note("billing");
  isDown = true;
  await expect(clients.refresh()).rejects.toThrow(StateUnavailableError);
  expect(clients.has("billing")).toBe(true);
  isDown = false;
  await clients.refresh();
  const restarted = new DivergedClients(store);
  await restarted.refresh();
  expect(restarted.has("billing")).toBe(true);
});

test("with more clients than any directory has, all count as diverged", () => {
  const clients = new DivergedClients(store);
  for (let index = 0; index < 20_000; index += 1) clients.note(`client-${index}`);
  expect(clients.has("somebody else")).toBe(true);
});
