/** How the schemas of stores are migrated: a step after the other, each of them wholly or not at all. */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { migratePostgres, migrateSqlite, SchemaError } from "../../../src/base/storage/schema.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";

const STEPS = ["CREATE TABLE book (name text)", "ALTER TABLE book ADD COLUMN pages integer"];
const FAILING = "ALTER TABLE book ADD COLUMN shelf integer; ALTER TABLE nowhere ADD COLUMN shelf integer";
const INSERT = "INSERT INTO book (name) VALUES ('of version 1')";

/** A database whose schema is migrated by a list of steps. */
interface Migrated {
  migrate(steps: readonly string[]): Promise<void>;
  read(sql: string): Promise<unknown[]>;
  end(): Promise<void>;
}

async function openSqlite(): Promise<Migrated> {
  const database = new DatabaseSync(":memory:");
  return {
    migrate: async (steps) => migrateSqlite(database, { applicationId: 7, steps }),
    read: async (sql) =>
      database
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })),
    end: async () => database.close(),
  };
}

async function openPostgres(): Promise<Migrated> {
  const database: TestDatabase = await makeDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const schema = { versionTable: "book_schema", firstTable: "book", lock: 7 };
  return {
    migrate: (steps) => migratePostgres(client, { ...schema, steps }),
    read: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    async end() {
      await client.end();
      await database.drop();
    },
  };
}

for (const [name, open, describe] of [
  ["SQLite", openSqlite, await describeWith()],
  ["PostgreSQL", openPostgres, await describeWith("postgres")],
] as const)
  describe(`a schema in ${name}`, () => {
    let store: Migrated;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.end());

    test("is created by all steps, in their order", async () => {
      await store.migrate(STEPS);
      expect(await store.read("SELECT name, pages FROM book")).toEqual([]);
    });

    test("is migrated by the steps that follow its version, and its rows stay", async () => {
      await store.migrate(STEPS.slice(0, 1));
      await store.read(INSERT);
      await store.migrate(STEPS);
      await store.migrate(STEPS);
      expect(await store.read("SELECT * FROM book")).toEqual([{ name: "of version 1", pages: null }]);
    });

    test("keeps the steps that succeeded when a later one fails, and nothing of that one", async () => {
      await expect(store.migrate([...STEPS, FAILING])).rejects.toThrow(/nowhere/);
      await store.read(INSERT);
      expect(await store.read("SELECT * FROM book")).toEqual([{ name: "of version 1", pages: null }]);
      await store.migrate([...STEPS, "ALTER TABLE book ADD COLUMN shelf integer"]);
      expect(await store.read("SELECT shelf FROM book")).toEqual([{ shelf: null }]);
    });

    test("of a newer version is refused, and not changed", async () => {
      await store.migrate(STEPS);
      const migrating = store.migrate(STEPS.slice(0, 1));
      await expect(migrating).rejects.toThrow(SchemaError);
      await expect(migrating).rejects.toThrow("a newer version of the gateway (schema 2 > 1)");
      expect(await store.read("SELECT pages FROM book")).toEqual([]);
    });

    test("that a different program created is rejected, and not changed", async () => {
      await store.read("CREATE TABLE book (title text)");
      await expect(store.migrate(STEPS)).rejects.toThrow("not written by a released version");
      expect(await store.read("SELECT title FROM book")).toEqual([]);
    });
  });
