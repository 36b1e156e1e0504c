import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LossRow } from "../../usage/loss-counts.ts";
import type { NameList } from "../../usage/name-lists.ts";

const ADDED = "ON CONFLICT DO UPDATE SET requests = requests + excluded.requests";

/** The counts of losses. Its calls are parts of the writer's transactions. */
export class Losses {
  readonly #count: StatementSync;
  readonly #copy: StatementSync;
  readonly #deleteOf: StatementSync;
  readonly #name: StatementSync;
  readonly #deleteNames: StatementSync;
  readonly #deleteBefore: StatementSync;
  readonly #deleteOldest: StatementSync;

  constructor(database: DatabaseSync) {
    this.#count = database.prepare(`INSERT INTO loss VALUES (?, ?, ?, ?, ?, ?) ${ADDED}`);
    this.#copy = database.prepare(
      `INSERT INTO loss SELECT day, ?, route, pack, place, requests FROM loss WHERE client = ? ${ADDED}`,
    );
    this.#deleteOf = database.prepare("DELETE FROM loss WHERE client = ?");
    this.#name = database.prepare(
      "INSERT INTO loss_names VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET day = max(day, excluded.day)",
    );
    this.#deleteNames = database.prepare("DELETE FROM loss_names WHERE day < ?");
    this.#deleteBefore = database.prepare("DELETE FROM loss WHERE day < ?");
    this.#deleteOldest = database.prepare(`
      DELETE FROM loss WHERE (day, client, route, pack, place) IN (
        SELECT day, client, route, pack, place FROM loss ORDER BY day
        LIMIT max(0, (SELECT count(*) FROM loss) - ?)
      )
    `);
  }

  add({ day, client, route, pack, place, requests }: LossRow): void {
    this.#count.run(day, client, route, pack, place, requests);
  }

  addNames({ pack, route, names, day }: NameList): void {
    this.#name.run(pack, route, JSON.stringify(names), day);
  }

  /** Adds all that is counted under one key to another key. */
  rename(from: string, to: string): void {
    if (Number(this.#copy.run(to, from).changes) > 0) this.#deleteOf.run(from);
  }

  /** Deletes the days before a day, and the oldest rows above a number. */
  purge(firstDay: string, maxRows: number): void {
    this.#deleteBefore.run(firstDay);
    this.#deleteNames.run(firstDay);
    this.#deleteOldest.run(maxRows);
  }
}
