import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AUDIT_FILE, openSqliteStore } from "../../src/audit/sqlite/store.ts";
import { sampleId, sampleRecord } from "./sample-record.ts";
import { storeContract } from "./store-contract.ts";

storeContract("SQLite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "audit-"));
  return {
    open: (durability) => openSqliteStore({ directory, durability, retentionDays: 36_500, sizeLimit: 1e12 }),
    remove: () => rm(directory, { recursive: true }),
  };
});

describe("the SQLite store", () => {
  const settings = { durability: "relaxed", retentionDays: 36_500, sizeLimit: 1e12 } as const;
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "audit-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test("makes its directory, and a file that nobody else may read", async () => {
    const deep = join(directory, "not", "yet", "there");
    const store = await openSqliteStore({ ...settings, directory: deep });
    void store.append(sampleRecord("x"));
    const modes = await Promise.all(["", "-wal"].map((side) => stat(join(deep, AUDIT_FILE + side))));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
    await store.close();
  });

  test.each([
    [
      "a file that is no database",
      () => writeFile(join(directory, AUDIT_FILE), "not a database, but long enough".repeat(99)),
    ],
    ["a database of a newer version", async () => newerDatabase(join(directory, AUDIT_FILE))],
  ])("does not start over %s, and says which file and what to do", async (_, spoil) => {
    await spoil();
    const opening = openSqliteStore({ ...settings, directory });
    await expect(opening).rejects.toThrow(join(directory, AUDIT_FILE));
    await expect(opening).rejects.toThrow(/not a database|newer version/);
    await expect(opening).rejects.toThrow("move it away");
  });

  test("does not start where the directory is a file", async () => {
    await writeFile(join(directory, "file"), "");
    await expect(openSqliteStore({ ...settings, directory: join(directory, "file") })).rejects.toThrow(
      "cannot be used",
    );
  });

  test("deletes at its start what is older than the retention", async () => {
    const clock = () => Date.parse("2026-03-31T00:00:00Z");
    const first = await openSqliteStore({ ...settings, directory, clock });
    for (let n = 0; n < 1200; n += 1)
      void first.append(sampleRecord(sampleId(n), { time: "2026-02-28T23:59:59.999Z" }));
    void first.append(sampleRecord("young", { time: "2026-03-01T00:00:00.000Z" }));
    await first.close();

    const second = await openSqliteStore({ ...settings, directory, retentionDays: 30, clock });
    while ((await second.query({ limit: 2 })).records.length > 1)
      await new Promise((done) => setTimeout(done, 20));
    expect(await second.query({})).toMatchObject({ records: [{ id: "young" }], next: null });
    await second.close();
  });

  test("drops the oldest when too many wait, and counts them", async () => {
    const store = await openSqliteStore({ ...settings, directory, queue: { maxRows: 10 } });
    for (let n = 0; n < 25; n += 1) void store.append(sampleRecord(sampleId(n)));
    expect(store.stats()).toEqual({ queued: 10, dropped: 15, written: 0, errors: 0 });
    await store.close();
    const again = await openSqliteStore({ ...settings, directory });
    const { records } = await again.query({ limit: 100 });
    expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => sampleId(24 - n)));
    await again.close();
  });
});

function newerDatabase(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA user_version = 99");
  database.close();
}
