import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { setTimeout as wait } from "node:timers/promises";
import type { KeyValueStore, Owner } from "../../../src/base/storage/key-value-store.ts";

/** Bound of the entries of a group in the stores under test. */
export const MAX_ENTRIES = 10;

/** An implementation under test: each `open` opens the same store, which is empty at first. */
export interface StatePlace {
  readonly open: () => Promise<KeyValueStore>;
  readonly remove: () => Promise<void>;
}

const LONG = 600;

/** Seconds that a test can wait for. Tests that expect a value use a long lifetime. */
const SHORT = 1;

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await wait(50);
}

/** The contract of every key-value store. */
export function testKeyValueStore(name: string, makePlace: () => Promise<StatePlace>): void {
  describe(`the key-value store in ${name}`, () => {
    let place: StatePlace;
    let store: KeyValueStore;
    /** The same store, opened a second time as by another process. */
    let other: KeyValueStore;

    beforeEach(async () => {
      place = await makePlace();
      store = await place.open();
      other = await place.open();
    });

    afterEach(async () => {
      await store.close();
      await other.close();
      await place.remove();
    });

    test("is ready", () => {
      expect(store.fault()).toBeUndefined();
    });

    test.each([
      ["nothing", ""],
      ["a word", "plain"],
      ["letters of the world", "ünïcödé 🎲"],
      ["JSON", '{"a":"b"}'],
      ["a long text", "a".repeat(10_000)],
      ["lines and a zero", "with\nlines\0and zero"],
    ])("returns %s in every process", async (_, value) => {
      await store.set("key", value, LONG);
      expect(await store.get("key")).toBe(value);
      expect(await other.get("key")).toBe(value);
    });

    test("returns nothing for unknown keys", async () => {
      expect(await store.get("nothing")).toBeUndefined();
      expect(await store.setMembers("nothing")).toEqual([]);
      await expect(store.delete("nothing")).resolves.toBeUndefined();
    });

    test("accepts keys of any text, and keeps them apart", async () => {
      const keys = ["k", "K", "k ", "k:1", "k*", "%", "'; DROP TABLE entry; --", "ключ"];
      for (const key of keys) await store.set(key, `value of ${key}`, LONG);
      for (const key of keys) expect(await store.get(key)).toBe(`value of ${key}`);
    });

    test("overwrites values", async () => {
      await store.set("key", "one", LONG);
      await other.set("key", "two", LONG);
      expect(await store.get("key")).toBe("two");
    });

    test("deletes values and sets for every process", async () => {
      await store.set("value", "x", LONG);
      await store.addToSet("set", "x", LONG);
      await other.delete("value");
      await other.delete("set");
      expect(await store.get("value")).toBeUndefined();
      expect(await store.setMembers("set")).toEqual([]);
    });

    test("expires a value", async () => {
      await store.set("key", "value", SHORT);
      await until(async () => (await store.get("key")) === undefined);
      expect(await store.setIfAbsent("key", "next", LONG)).toBe(true);
      expect(await store.get("key")).toBe("next");
    });

    test("an overwritten value has the new expiry", async () => {
      await store.set("key", "value", SHORT);
      await store.set("key", "value", LONG);
      await store.set("probe", "", SHORT);
      await until(async () => (await store.get("probe")) === undefined);
      expect(await store.get("key")).toBe("value");
    });

    test("only one of many concurrent setIfAbsent calls succeeds", async () => {
      const tries = Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? store : other).setIfAbsent("lock", String(n), LONG),
      );
      const winners = (await Promise.all(tries)).flatMap((won, n) => (won ? [String(n)] : []));
      expect(winners).toHaveLength(1);
      expect(await store.get("lock")).toBe(winners[0]);
    });

    test("replaces a value only if it is as expected", async () => {
      expect(await store.replace("key", "old", "new", LONG)).toBe(false);
      expect(await store.get("key")).toBeUndefined();
      await store.set("key", "old", LONG);
      expect(await store.replace("key", "another", "new", LONG)).toBe(false);
      expect(await store.replace("key", "old", "new", LONG)).toBe(true);
      expect(await other.replace("key", "old", "newer", LONG)).toBe(false);
      expect(await store.get("key")).toBe("new");
    });

    test("does not replace an expired value", async () => {
      await store.set("key", "old", SHORT);
      await until(async () => (await store.get("key")) === undefined);
      expect(await store.replace("key", "old", "new", LONG)).toBe(false);
      expect(await store.get("key")).toBeUndefined();
    });

    test("keeps each member of a set once", async () => {
      await Promise.all([
        store.addToSet("set", "a", LONG),
        other.addToSet("set", "b", LONG),
        other.addToSet("set", "a", LONG),
      ]);
      await store.addToSet("another", "c", LONG);
      expect([...(await other.setMembers("set"))].sort()).toEqual(["a", "b"]);
    });

    test("expires each member separately", async () => {
      await store.addToSet("set", "short", SHORT);
      await store.addToSet("set", "renewed", SHORT);
      await store.addToSet("set", "long", LONG);
      await store.addToSet("set", "renewed", LONG);
      await until(async () => !(await store.setMembers("set")).includes("short"));
      expect([...(await store.setMembers("set"))].sort()).toEqual(["long", "renewed"]);
    });

    test("limits the size of a set, and renews existing members", async () => {
      const tries = Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? store : other).addToSet("set", String(n), LONG, 5),
      );
      const added = (await Promise.all(tries)).flatMap((taken, n) => (taken ? [String(n)] : []));
      expect(added).toHaveLength(5);
      expect([...(await store.setMembers("set"))].sort()).toEqual(added.toSorted());
      expect(await store.addToSet("set", added[0] ?? "", LONG, 5)).toBe(true);
      expect(await store.addToSet("another", "a", LONG, 5)).toBe(true);
    });

    test("does not count expired members against the size of a set", async () => {
      expect(await store.addToSet("set", "short", SHORT, 1)).toBe(true);
      await until(async () => (await store.setMembers("set")).length === 0);
      expect(await store.addToSet("set", "next", LONG, 1)).toBe(true);
    });

    test("deletes many values and sets at once", async () => {
      await store.set("value", "x", LONG);
      await store.set("stays", "x", LONG);
      await store.addToSet("set", "x", LONG);
      await other.deleteAll(["value", "set", "nothing"]);
      await other.deleteAll([]);
      expect([await store.get("value"), await store.get("stays")]).toEqual([undefined, "x"]);
      expect(await store.setMembers("set")).toEqual([]);
    });

    test("deletes a value only if it is as expected, so that another's lock stays", async () => {
      await store.set("lock", "second holder", LONG);
      await other.deleteIf("lock", "first holder");
      expect(await store.get("lock")).toBe("second holder");
      await other.deleteIf("lock", "second holder");
      expect(await store.get("lock")).toBeUndefined();
    });

    describe("owners", () => {
      const owner = (id: string, share = 3, group: Owner["group"] = "personal"): Owner => ({
        group,
        id,
        share,
      });
      const add = (key: string, of: Owner, from = store, seconds = LONG) =>
        from.add(key, `value ${key}`, seconds, of);

      test("have a share: what exceeds it is refused, and nobody's entries are removed", async () => {
        await add("before", owner("first"));
        for (const key of ["a", "b", "c"]) expect(await add(key, owner("busy"))).toBe("free");
        expect(await other.room(owner("busy"), 1)).toBe("share used up");
        for (const from of [store, other]) expect(await add("d", owner("busy"), from)).toBe("share used up");
        expect(await store.get("d")).toBeUndefined();
        for (const key of ["before", "a", "b", "c"]) expect(await other.get(key)).toMatch(/^value/);
        expect(await add("mine", owner("second"))).toBe("free");
      });

      test("of one group never take the part of another group", async () => {
        for (let n = 0; n < MAX_ENTRIES; n += 1)
          expect(await add(`key ${n}`, owner(`owner ${n}`))).toBe("free");
        expect(await add("more", owner("new"))).toBe("store full");
        expect(await other.room(owner("new"), 1)).toBe("store full");
        expect(await add("app", owner("new", 3, "application"), other)).toBe("free");
        for (let n = 0; n < MAX_ENTRIES; n += 1) expect(await store.get(`key ${n}`)).toBe(`value key ${n}`);
        expect(await store.fullness()).toMatchObject({ personal: 1, application: 1 / MAX_ENTRIES });
      });

      test("are asked for room for several entries at once", async () => {
        await add("a", owner("one"));
        expect([await store.room(owner("one"), 2), await store.room(owner("one"), 3)]).toEqual([
          "free",
          "share used up",
        ]);
        expect(await store.fullness()).toMatchObject({ personal: 1 / MAX_ENTRIES, application: 0 });
      });

      test("of many concurrent entries no more than the share are added", async () => {
        const tries = Array.from({ length: 20 }, (_, n) =>
          add(`key ${n}`, owner("one", 5), n % 2 ? store : other),
        );
        expect((await Promise.all(tries)).filter((room) => room === "free")).toHaveLength(5);
      });

      test("get room again where their entries are deleted, replaced or expire", async () => {
        for (const key of ["a", "b"]) await add(key, owner("one"));
        await add("short", owner("one"), store, SHORT);
        expect(await store.replace("a", "value a", "next", LONG)).toBe(true);
        expect(await add("a", owner("one"))).toBe("free");
        expect(await add("d", owner("one"))).toBe("share used up");
        await other.delete("a");
        expect(await add("d", owner("one"))).toBe("free");
        await other.deleteIf("b", "another value");
        expect(await add("e", owner("one"))).not.toBe("free");
        await other.deleteIf("b", "value b");
        expect(await add("e", owner("one"))).toBe("free");
        await until(async () => (await store.get("short")) === undefined);
        expect(await add("f", owner("one"))).toBe("free");
        expect(await add("g", owner("one"))).toBe("share used up");
        for (const key of ["d", "e", "f"]) await store.delete(key);
        expect(await store.fullness()).toMatchObject({ personal: 0, application: 0 });
      });

      test("keep an entry that is replaced", async () => {
        await add("a", owner("one", 1), store, SHORT);
        expect(await store.replace("a", "value a", "next", LONG)).toBe(true);
        await add("probe", owner("two"), store, SHORT);
        await until(async () => (await store.get("probe")) === undefined);
        expect([await store.get("a"), await add("b", owner("one", 1))]).toEqual(["next", "share used up"]);
      });
    });

    test("can be closed twice", async () => {
      await store.close();
      await expect(store.close()).resolves.toBeUndefined();
    });
  });
}
