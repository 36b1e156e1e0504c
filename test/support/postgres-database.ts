import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { endsWithTest } from "./ends-with-test.ts";

const SERVER = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

export interface TestDatabase {
  readonly url: string;
  /** Queries the database directly. */
  readonly query: (text: string) => Promise<Record<string, unknown>[]>;
  /** Closes all connections, and allows or rejects new ones. */
  readonly allowConnections: (connections: boolean) => Promise<void>;
  readonly drop: () => Promise<void>;
}

/** Creates an empty database on the test server, which is dropped after the test. */
export async function makeDatabase(): Promise<TestDatabase> {
  const name = `audit_test_${randomBytes(6).toString("hex")}`;
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  await ask(SERVER, `CREATE DATABASE ${name}`);
  return {
    url: url.href,
    query: (text) => ask(url.href, text),
    allowConnections: async (connections) => {
      await ask(SERVER, `ALTER DATABASE ${name} ALLOW_CONNECTIONS ${connections}`);
      await ask(SERVER, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    drop: endsWithTest(async () => void (await ask(SERVER, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
