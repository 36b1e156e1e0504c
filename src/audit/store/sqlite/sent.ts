import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NameList } from "../../usage/name-lists.ts";
import { addBits, type SentRow } from "../../usage/sent-members.ts";
import { allRows } from "./rows.ts";

/** The names that clients sent. Its calls are parts of the writer's transactions. */
export class Sent {
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #ofClient: StatementSync;
  readonly #deleteOf: StatementSync;
  readonly #name: StatementSync;
  readonly #deleteNames: StatementSync;
  readonly #deleteBefore: StatementSync;
  readonly #deleteOldest: StatementSync;

  constructor(database: DatabaseSync) {
    const key = "day = ? AND client = ? AND route = ? AND pack = ?";
    this.#find = database.prepare(`SELECT bits FROM sent WHERE ${key}`);
    this.#put = database.prepare("INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?, ?)");
    this.#ofClient = database.prepare("SELECT * FROM sent WHERE client = ?");
    this.#deleteOf = database.prepare("DELETE FROM sent WHERE client = ?");
    this.#name = database.prepare(
      "INSERT INTO sent_names VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET day = max(day, excluded.day)",
    );
    this.#deleteNames = database.prepare("DELETE FROM sent_names WHERE day < ?");
    this.#deleteBefore = database.prepare("DELETE FROM sent WHERE day < ?");
    this.#deleteOldest = database.prepare(`
      DELETE FROM sent WHERE (day, client, route, pack) IN (
        SELECT day, client, route, pack FROM sent ORDER BY day LIMIT max(0, (SELECT count(*) FROM sent) - ?)
      )
    `);
  }

  add({ day, client, route, pack, bits }: SentRow): void {
    const found = allRows<{ bits: Uint8Array }>(this.#find, day, client, route, pack)[0]?.bits;
    if (!found) this.#put.run(day, client, route, pack, bits);
    else if (addBits(found, bits)) this.#put.run(day, client, route, pack, found);
  }

  addNames({ pack, route, names, day }: NameList): void {
    this.#name.run(pack, route, JSON.stringify(names), day);
  }

  /** Adds all that was sent under one key to another key. */
  rename(from: string, to: string): void {
    const rows = allRows<SentRow>(this.#ofClient, from);
    for (const row of rows) this.add({ ...row, client: to });
    if (rows.length > 0) this.#deleteOf.run(from);
  }

  /** Deletes the days before a day, and the oldest rows above a number. */
  purge(firstDay: string, maxRows: number): void {
    this.#deleteBefore.run(firstDay);
    this.#deleteNames.run(firstDay);
    this.#deleteOldest.run(maxRows);
  }
}
