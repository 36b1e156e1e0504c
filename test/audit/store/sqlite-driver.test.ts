import { beforeEach, describe, expect, test } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import type { Driver } from "../../../src/audit/store/sql/driver.ts";
import { SCHEMA, sqliteDriver } from "../../../src/audit/store/sqlite/driver.ts";
import { migrateSqlite } from "../../../src/base/storage/schema.ts";

describe("the SQLite driver of the audit, while deleted data is removed from the file", () => {
  let database: DatabaseSync;
  let driver: Driver;
  beforeEach(() => {
    database = new DatabaseSync(":memory:");
    migrateSqlite(database, SCHEMA);
    driver = sqliteDriver(database);
    database.exec("INSERT INTO audit_block VALUES ('one', 1, 1, 2, '{}'), ('other', 2, 3, 4, '{}')");
  });

  const clients = () => driver.query("SELECT client FROM audit_block ORDER BY client");

  test("can write between the steps, and keeps the rows", async () => {
    let steps = 0;
    while (await driver.forget(steps)) {
      steps += 1;
      await driver.write(async (connection) => connection.run("UPDATE audit_block SET first = $1", [steps]));
    }
    expect(steps).toBeGreaterThan(1);
    expect(await clients()).toEqual([{ client: "one" }, { client: "other" }]);
  });

  test("an error changes nothing, and the next transactions work", async () => {
    database.exec(`CREATE TRIGGER fails BEFORE INSERT ON audit_block WHEN NEW.client = 'other'
      BEGIN SELECT RAISE(ABORT, 'no memory'); END`);
    await expect(driver.forget(0)).rejects.toThrow("no memory");
    expect(await driver.read(clients)).toEqual([{ client: "one" }, { client: "other" }]);
    database.exec("DROP TRIGGER fails");
    expect(await driver.forget(0)).toBe(true);
  });
});
