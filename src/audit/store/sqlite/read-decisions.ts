import { DatabaseSync } from "node:sqlite";
import {
  callsStatement,
  callsValues,
  pastStatement,
  pastValues,
  type CallsQuery,
  type ClientCalls,
  type PastQuery,
} from "../decisions.ts";
import { readTokenPage } from "./read-usage.ts";
import type { DecisionJob } from "./thread/worker-messages.ts";

const SOURCE = {
  usage: "usage",
  token: "token",
  listed: (parameter: number): string => `(SELECT value FROM json_each(?${parameter}))`,
  value: (parameter: number): string => `?${parameter}`,
};
const PAST = pastStatement(SOURCE);
const CALLS = callsStatement(SOURCE);

function wasServed(database: DatabaseSync, query: PastQuery): boolean {
  const { clients, day, routes } = pastValues(query);
  const row = database.prepare(PAST).get(JSON.stringify(clients), day, JSON.stringify(routes));
  return row?.["found"] === 1;
}

function readCalls(database: DatabaseSync, query: CallsQuery): ClientCalls {
  const { clients, first, last, since, until } = callsValues(query);
  const row = database.prepare(CALLS).get(JSON.stringify(clients), first, last, since, until);
  return { requests: Number(row?.["requests"]), hasCalled: Number(row?.["calling"]) > 0 };
}

/** Answers a question that requests wait for. */
export function readDecision(database: DatabaseSync, job: DecisionJob): unknown {
  if (job.kind === "past") return wasServed(database, job.query);
  if (job.kind === "calls") return readCalls(database, job.query);
  if (job.kind === "tokenPage") return readTokenPage(database, job.query);
  return database.close();
}

/**
 * Opens the database for what requests wait for. It runs in a thread of its own, so that no long query of the console delays it.
 *
 * @returns A function that runs one job.
 * @throws {Error} If there is no such database.
 */
export function openDecider(file: string): (job: DecisionJob) => unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000");
  return (job) => readDecision(database, job);
}
