/** What replicas share about a plan. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { createControl } from "../../../src/migration/plan/control.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import type { PlanDates } from "../../../src/migration/plan/plan-dates.ts";

const DATES: PlanDates = { end: 5, ends: [], freezes: [], allowed: {}, clientEnds: {}, windowStages: [] };
const BY_ANN = { stage: null, by: "Ann", reason: null };

let folder: string;
let store: KeyValueStore;
beforeEach(() => {
  folder = temporaryFolder();
  store = openSqliteKeyValueStore({ directory: folder });
});
afterEach(async () => {
  await store.close();
});

describe("a pause", () => {
  test("of one stage does not affect other stages, and ends separately", async () => {
    const control = createControl(store);
    await control.pause({ ...BY_ANN, stage: "first" });
    await control.pause({ ...BY_ANN, stage: "second" });
    expect(control.pauseOf("third")).toBeUndefined();
    await control.resume({ ...BY_ANN, stage: "first" });
    expect([control.pauseOf("first"), control.pauseOf("second")?.by]).toEqual([undefined, "Ann"]);
  });

  test.each(["{", "[]", '{"pauses":[{"stage":1}],"events":[]}'])(
    "stays as it is if what is stored becomes %s",
    async (damaged) => {
      const control = createControl(store);
      await control.pause(BY_ANN);
      await store.set("sunset:control", damaged, 60);
      await expect(control.refresh()).rejects.toThrow("What is stored under sunset:control is damaged.");
      expect(control.pauseOf("first")?.by).toBe("Ann");
    },
  );

  test("keeps who pressed first", async () => {
    const control = createControl(store);
    await control.pause(BY_ANN);
    await control.pause({ ...BY_ANN, by: "Bob" });
    expect(control.state().pauses.map(({ by }) => by)).toEqual(["Ann"]);
  });

  test("is not lost if replicas pause different stages at the same time", async () => {
    const controls = Array.from({ length: 5 }, () => createControl(store));
    await Promise.all(
      controls.map((control, index) => control.pause({ ...BY_ANN, stage: `stage ${index}` })),
    );
    const control = createControl(store);
    await control.refresh();
    expect(control.state().pauses).toHaveLength(5);
  });
});

describe("while the store can't be read", () => {
  test("what was read before counts, and before the first read nothing is known", async () => {
    let isDown = true;
    const get: KeyValueStore["get"] = async (key) => {
      if (isDown) throw new Error("down");
      return store.get(key);
    };
    await createControl(store).pause(BY_ANN);
    const control = createControl({ ...store, get });
    await expect(control.refresh()).rejects.toThrow("down");
    expect(control.isKnown()).toBe(false);
    isDown = false;
    await control.refresh();
    isDown = true;
    await expect(control.refresh()).rejects.toThrow("down");
    expect([control.isKnown(), control.pauseOf("first")?.by]).toEqual([true, "Ann"]);
  });
});

test("other replicas read published dates, and detect that they have changed", async () => {
  const [one, other] = [createControl(store), createControl(store)];
  expect(await other.refresh()).toBe(false);
  await one.publish(DATES);
  expect(await other.refresh()).toBe(true);
  expect(other.published()).toEqual(DATES);
  expect(await other.refresh()).toBe(false);
});
