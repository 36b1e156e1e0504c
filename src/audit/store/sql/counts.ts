/** The tables of the summaries, with the statements that add, move and delete rows. */
import type { Connection, Value } from "./driver.ts";

/**
 * How two values of a column are combined if their rows have the same key. `latest` is the value of the row with the
 * greater `last`, `new` is the added value.
 */
type Join = "sum" | "least" | "greatest" | "latest" | "new";

interface SumTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly values: Readonly<Record<string, Join>>;
}

/** A table whose rows belong to one client and one day. */
export interface CountTable extends SumTable {
  /** Maximum number of rows, as a multiple of the rows of `audit_usage`. */
  readonly share: number;
  /** SQL order of a client's rows, the ones to delete last first. May use the column `mark`. */
  readonly keptFirst: string;
  readonly mark: string;
}

/** The tables by client and day. */
export const COUNTS = {
  usage: {
    name: "audit_usage",
    key: ["day", "client", "lane", "route", "status"],
    values: { requests: "sum", lossy: "sum", first: "least", last: "greatest", sample: "greatest" },
    share: 1,
    // The last request of the client's API shows whether the client still uses that API. Errors are deleted first.
    keptFirst: `CASE WHEN mark = 1 AND lane <> 'native' THEN 0 WHEN status < 400 THEN 1 ELSE 2 END, day DESC, last DESC`,
    mark: "row_number() OVER (PARTITION BY client, lane ORDER BY last DESC, status)",
  },
  agents: {
    name: "audit_agent",
    key: ["day", "client", "family"],
    values: { agent: "latest", last: "greatest" },
    share: 1,
    keptFirst: "day DESC, last DESC",
    mark: "0",
  },
  sent: {
    name: "audit_sent",
    key: ["day", "client", "route", "name"],
    values: {},
    share: 4,
    keptFirst: "day DESC",
    mark: "0",
  },
  losses: {
    name: "audit_loss",
    key: ["day", "client", "route", "name"],
    values: { requests: "sum" },
    share: 1,
    keptFirst: "day DESC",
    mark: "0",
  },
} as const satisfies Record<string, CountTable>;

/** Tokens that v4 has accepted. */
export const TOKENS = {
  name: "audit_token",
  key: ["fingerprint"],
  values: {
    key: "new",
    agent: "latest",
    first: "least",
    last: "greatest",
    last_alpha: "greatest",
    last_native: "greatest",
    requests: "sum",
    native: "sum",
  },
} as const satisfies SumTable;

/** The names that the store counts. */
export const COUNTED = {
  name: "audit_counted",
  key: ["route", "name"],
  values: { day: "greatest" },
} as const satisfies SumTable;

type CountRow = Readonly<Record<string, Value>>;

/** A row with all columns of a table. */
type RowOf<Table extends SumTable> = Readonly<
  Record<Table["key"][number] | (keyof Table["values"] & string), Value>
>;

function joinValue(join: Join, one: Value, other: Value, isLater: boolean): Value {
  if (join === "sum") return Number(one) + Number(other);
  if (join === "new") return other;
  if (join === "latest") return isLater ? other : one;
  if (one === null || other === null) return one ?? other;
  return (join === "least" ? other < one : other > one) ? other : one;
}

/** Joins rows of a table that have the same key. */
export function joinRows<Row extends CountRow>(
  { key, values }: Pick<SumTable, "key" | "values">,
  rows: Iterable<Row>,
): Row[] {
  const joins = Object.entries(values);
  const joined = new Map<string, Record<string, Value>>();
  for (const row of rows) {
    const id = key.map((column) => row[column]).join("\n");
    const other = joined.get(id);
    if (!other) {
      joined.set(id, { ...row });
      continue;
    }
    const isLater = Number(row["last"]) >= Number(other["last"]);
    for (const [column, join] of joins)
      other[column] = joinValue(join, other[column] ?? null, row[column] ?? null, isLater);
  }
  return [...joined.values()] as Row[];
}

/** Returns the SQL that adds a row to an existing row with the same key. */
function addition({ name, key, values }: SumTable): string {
  const spelt: Readonly<Record<Join, (column: string) => string>> = {
    sum: (column) => `${name}.${column} + excluded.${column}`,
    least: (column) => `least(${name}.${column}, excluded.${column})`,
    greatest: (column) => `greatest(${name}.${column}, excluded.${column})`,
    latest: (column) =>
      `CASE WHEN excluded.last >= ${name}.last THEN excluded.${column} ELSE ${name}.${column} END`,
    new: (column) => `excluded.${column}`,
  };
  const changes = Object.entries(values).map(([column, join]) => `${column} = ${spelt[join](column)}`);
  const update = changes.length === 0 ? "NOTHING" : `UPDATE SET ${changes.join(", ")}`;
  return `ON CONFLICT (${key.join(", ")}) DO ${update}`;
}

/** Adds the counts of these rows to a table. */
export const addRows = <Table extends SumTable>(
  connection: Connection,
  table: Table,
  rows: Iterable<RowOf<Table>>,
): Promise<void> => connection.insert(table.name, joinRows(table, rows), addition(table));

/** Adds all counts of one client to another client. */
export async function renameClient(connection: Connection, from: string, to: string): Promise<void> {
  for (const table of Object.values(COUNTS)) {
    const { name, key, values } = table;
    const others = [...key, ...Object.keys(values)].filter((column) => column !== "client").join(", ");
    await connection.run(
      `INSERT INTO ${name} (client, ${others})
        SELECT CAST($2 AS text), ${others} FROM ${name} WHERE client = $1 ${addition(table)}`,
      [from, to],
    );
    await connection.run(`DELETE FROM ${name} WHERE client = $1`, [from]);
  }
}

/** Deletes all counts of clients. @param keys the result of `listOf` @returns the number of deleted counts */
export async function deleteClients(connection: Connection, keys: string): Promise<number> {
  let counts = 0;
  for (const { name } of Object.values(COUNTS)) {
    const rows = await connection.run(`DELETE FROM ${name} WHERE client IN LIST($1)`, [keys]);
    // User agents have no counts.
    if (name !== COUNTS.agents.name) counts += rows;
  }
  return counts;
}
