/** How much a store has of what is limited. */
import { COUNTS } from "./counts.ts";
import type { Connection } from "./driver.ts";
import { recordBytes, ROW_BYTES } from "./size-limit.ts";

/** The amount of a limited resource in a store: rows of a table, or bytes. */
interface Measured {
  /** Measures it, which reads an index. */
  readonly measure: (connection: Connection) => Promise<number>;
  /** The share of the limit that is left when the limit has been exceeded, so that this is seldom. */
  readonly keep: number;
  /** Milliseconds after which it is measured again: another process may write to the same store. */
  readonly everyMs: number;
}

/** An amount that is limited. It is measured seldom: what is added in between is counted, and is an upper bound. */
class StoredAmount {
  readonly #measured: Measured;
  #amount = 0;
  #measuredAt = -Infinity;
  #isCut = false;

  constructor(measured: Measured) {
    this.#measured = measured;
  }

  /** Adds what a commit adds at most. */
  add(amount: number): void {
    this.#amount += amount;
  }

  /** By how much the store exceeds a limit, or what is kept of it, until that is reached. 0 or less: it does not. */
  async excess(connection: Connection, limit: number): Promise<number> {
    const { measure, keep, everyMs } = this.#measured;
    const now = performance.now();
    if (this.#isCut || this.#amount > limit || now - this.#measuredAt > everyMs) {
      this.#amount = await measure(connection);
      this.#measuredAt = now;
    }
    const kept = Math.ceil(limit * keep);
    this.#isCut = this.#amount > (this.#isCut ? kept : limit);
    return this.#isCut ? this.#amount - kept : 0;
  }
}

/** The share of the rows that is left when there were too many: to choose those that go reads the keys of all. */
const KEPT_ROWS = 0.95;

const rowsOf = (table: string): StoredAmount =>
  new StoredAmount({
    async measure(connection) {
      const [row] = await connection.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
      return row?.rows ?? 0;
    },
    keep: KEPT_ROWS,
    everyMs: 600_000,
  });

/** The amounts of one store. */
export class StoredAmounts {
  /** Bytes of records. */
  readonly bytes = new StoredAmount({ measure: recordBytes, keep: 1, everyMs: 60_000 });
  readonly tokens = rowsOf("audit_token");
  /** Rows of the tables of summaries. */
  readonly counts = {
    usage: rowsOf(COUNTS.usage.name),
    agents: rowsOf(COUNTS.agents.name),
    sent: rowsOf(COUNTS.sent.name),
    losses: rowsOf(COUNTS.losses.name),
  } satisfies Record<keyof typeof COUNTS, StoredAmount>;

  /** Adds the records of a commit. */
  addRecords(bytes: number, records: number): void {
    this.bytes.add(bytes + records * ROW_BYTES);
  }
}
