import type { Command } from "commander";
import { readAuditQuery } from "../admin/audit-query.ts";
import type { AuditQuery } from "../audit/store.ts";

/** The flags that select audit records. */
export interface RecordFilters {
  readonly client?: string;
  readonly route?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
}

interface Problem {
  readonly parameter?: string;
  readonly reason: string;
}

/** Ends the command if there are problems. All are reported together, by their flags. @throws {CommanderError} */
export function assertNoProblems(problems: readonly Problem[], command: Command): void {
  const lines = problems.map(({ parameter, reason }) => `  --${parameter}: ${reason}`);
  if (lines.length > 0) command.error(["error: invalid flags:", ...lines].join("\n"));
}

/** Reads the flags that select audit records. @throws {CommanderError} with all problems */
export function readRecordFilters(
  { client = "", route = "", status = "", since = "", until = "" }: RecordFilters,
  command: Command,
): AuditQuery {
  const { query, problems } = readAuditQuery({ client, route, status, since, until });
  assertNoProblems(problems, command);
  return query;
}
