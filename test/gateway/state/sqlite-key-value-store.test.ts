import { beforeEach, describe, expect, test } from "@jest/globals";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StateUnavailableError } from "../../../src/base/storage/key-value-store.ts";
import { STATE_FILE } from "../../../src/gateway/state/sqlite-schema.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { MAX_ENTRIES, testKeyValueStore } from "./key-value-store-contract.ts";

testKeyValueStore("SQLite", async () => {
  const directory = temporaryFolder();
  return {
    open: async () => openSqliteKeyValueStore({ directory, maxEntries: MAX_ENTRIES }),
    remove: () => rm(directory, { recursive: true }),
  };
});

describe("the SQLite key-value store", () => {
  let directory: string;
  beforeEach(async () => {
    directory = temporaryFolder();
  });

  test("creates its folder, and files that only the owner can read", async () => {
    const deep = join(directory, "not", "yet", "there");
    const store = openSqliteKeyValueStore({ directory: deep });
    await store.set("key", "value", 600);
    const modes = await Promise.all(["", "-wal"].map((side) => stat(join(deep, STATE_FILE + side))));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
    await store.close();
  });

  test("survives a restart", async () => {
    const before = openSqliteKeyValueStore({ directory });
    await before.set("key", "value", 600);
    await before.addToSet("set", "member", 600);
    await before.close();
    const after = openSqliteKeyValueStore({ directory });
    expect(await after.get("key")).toBe("value");
    expect(await after.setMembers("set")).toEqual(["member"]);
    await after.close();
  });

  test("is bounded: a set accepts no new member once the store is full of them", async () => {
    const store = openSqliteKeyValueStore({ directory, maxMembers: 10 });
    const added = [];
    for (let n = 0; n < 30; n += 1) added.push(await store.addToSet("set", `member ${n}`, 600 + n));
    expect(added).toEqual(Array.from({ length: 30 }, (_, n) => n < 10));
    expect((await store.fullness()).rest).toBe(1);
    expect(await store.addToSet("set", "member 0", 600)).toBe(true);
    expect(await store.addToSet("reserved", "member", 600, 1)).toBe(false);
    expect(await store.addToSet("reserved", "member", 600, 1, true)).toBe(true);
    expect(await store.addToSet("reserved", "another", 600, 1, true)).toBe(false);
    expect(await store.setMembers("set")).toHaveLength(10);
    await store.close();
  });

  test("counts what an owner has after a restart too", async () => {
    const owner = { group: "personal", id: "a", share: 1 } as const;
    const before = openSqliteKeyValueStore({ directory });
    await before.add("one", "value", 600, owner);
    await before.close();
    const after = openSqliteKeyValueStore({ directory });
    expect(await after.add("two", "value", 600, owner)).toBe("share used up");
    await after.close();
  });

  test("is not ready while it can only be read", async () => {
    const store = openSqliteKeyValueStore({ directory });
    await store.set("key", "value", 600);
    const other = new DatabaseSync(join(directory, STATE_FILE));
    // Writes fail as on a full disk.
    other.exec("CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'full'); END");
    expect([await store.get("key"), store.fault()]).toEqual(["value", expect.any(String)]);
    other.exec("DROP TRIGGER full");
    other.close();
    await waitFor(() => store.fault() === undefined);
    await store.close();
  });

  test("does not write a member again that has nearly all of its time", async () => {
    const store = openSqliteKeyValueStore({ directory });
    await store.addToSet("set", "member", 3600);
    const { size } = await stat(join(directory, `${STATE_FILE}-wal`));
    for (let n = 0; n < 50; n += 1) expect(await store.addToSet("set", "member", 3600)).toBe(true);
    expect((await stat(join(directory, `${STATE_FILE}-wal`))).size).toBe(size);
    await store.addToSet("set", "member", 3700);
    expect((await stat(join(directory, `${STATE_FILE}-wal`))).size).toBeGreaterThan(size);
    await store.close();
  });

  test("deletes expired entries", async () => {
    const store = openSqliteKeyValueStore({ directory });
    await store.set("ended", "value", 0);
    await store.addToSet("set", "ended", 0);
    await store.close();
    await openSqliteKeyValueStore({ directory }).close();
    const database = new DatabaseSync(join(directory, STATE_FILE));
    const rows = (table: string) => database.prepare(`SELECT * FROM ${table}`).all();
    expect([...rows("entry"), ...rows("member")]).toEqual([]);
    database.close();
  });

  test("has no byte of what was deleted or replaced", async () => {
    const store = openSqliteKeyValueStore({ directory });
    for (const [key, length] of [
      ["deleted", 100],
      ["deleted too", 100_000],
      ["replaced", 10_000],
    ] as const)
      await store.set(key, "erased".repeat(length), 600);
    await store.set("replaced", "kept", 600);
    await store.deleteAll(["deleted", "deleted too"]);
    await store.close();
    for (const name of await readdir(directory))
      expect((await readFile(join(directory, name))).toString("latin1")).not.toContain("erased");
  });

  test("reports that it cannot be written", async () => {
    const store = openSqliteKeyValueStore({ directory });
    await store.close();
    await expect(store.set("key", "value", 600)).rejects.toThrow(StateUnavailableError);
    expect(store.fault()).toBeDefined();
  });

  async function newerDatabase(file: string): Promise<void> {
    await openSqliteKeyValueStore({ directory }).close();
    execute(file, "PRAGMA user_version = 99");
  }

  test.each([
    ["a file that is not a database", (file: string) => writeFile(file, "no database, but long".repeat(99))],
    ["a database of a newer version", newerDatabase],
    ["a database of a version that was never released", async (file: string) => execute(file, UNRELEASED)],
  ])("does not open %s, and names the file and the remedy", async (_, spoil) => {
    const file = join(directory, STATE_FILE);
    await spoil(file);
    const open = () => openSqliteKeyValueStore({ directory });
    expect(open).toThrow(StateUnavailableError);
    expect(open).toThrow(file);
    expect(open).toThrow(/not a database|newer version|not written by a released version/);
    expect(open).toThrow("move it away");
  });

  test("does not open if the folder is a file", async () => {
    await writeFile(join(directory, "file"), "");
    expect(() => openSqliteKeyValueStore({ directory: join(directory, "file") })).toThrow("can't be used");
  });
});

const UNRELEASED = "CREATE TABLE entry (key TEXT PRIMARY KEY); PRAGMA user_version = 1";

function execute(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
