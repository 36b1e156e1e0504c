/** A document that all replicas read and change. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { z } from "zod";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { createSharedDocument, type SharedDocument } from "../../../src/base/storage/shared-document.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";

const KEY = "test:names";

let folder: string;
let store: KeyValueStore;
beforeEach(() => {
  folder = temporaryFolder();
  store = openSqliteKeyValueStore({ directory: folder });
});
afterEach(async () => {
  await store.close();
});

const open = (): SharedDocument<readonly string[]> =>
  createSharedDocument<readonly string[]>(store, { key: KEY, schema: z.array(z.string()), empty: [] });

test("a replica reads the document that a different replica has written", async () => {
  const [one, other] = [open(), open()];
  await one.change((names) => [...names, "a"]);
  await other.change((names) => [...names, "b"]);
  await one.refresh();
  expect([one.current(), other.current()]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

test("comes back where the store has lost it, from whoever knows it first", async () => {
  const [one, other] = [open(), open()];
  await one.change(() => ["a"]);
  await other.refresh();
  await store.delete(KEY);
  await other.refresh();
  await one.refresh();
  const started = open();
  await started.refresh();
  expect([one, other, started].map((document) => document.current())).toEqual([["a"], ["a"], ["a"]]);
});

test("comes back as it was last changed, also if a process that knows an older state is the first to give it back", async () => {
  const [one, behind] = [open(), open()];
  await one.change(() => ["a"]);
  await behind.refresh();
  await one.change((names) => [...names, "b"]);
  await store.delete(KEY);
  await behind.refresh();
  await one.refresh();
  await behind.refresh();
  expect([one.current(), behind.current()]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

test("the document can be changed even if the store has just lost it", async () => {
  const one = open();
  await one.change(() => ["a"]);
  await store.delete(KEY);
  await one.change((names) => [...names, "b"]);
  const started = open();
  await started.refresh();
  expect(started.current()).toEqual(["a", "b"]);
});
