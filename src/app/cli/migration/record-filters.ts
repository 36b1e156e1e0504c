import type { Command } from "commander";
import { type AuditQuery, type NamedClients, readAuditQuery, readNamedQuery } from "../../../audit/index.ts";

/** The flags that select audit records. */
export interface RecordFilters {
  readonly client?: string;
  readonly lane?: string;
  readonly route?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
}

interface Problem {
  readonly parameter?: string;
  readonly reason: string;
}

/** Ends the command if there are problems. All of them are reported, with their flags. @throws {CommanderError} */
export function assertNoProblems(problems: readonly Problem[], command: Command): void {
  const lines = problems.map(({ parameter, reason }) => `  --${parameter}: ${reason}`);
  if (lines.length > 0) command.error(["error: invalid flags:", ...lines].join("\n"));
}

const withoutUndefined = ({
  client = "",
  lane = "",
  route = "",
  status = "",
  since = "",
  until = "",
}: RecordFilters): Readonly<Record<string, string>> => ({ client, lane, route, status, since, until });

/** Reads the flags that select audit records. @throws {CommanderError} with all problems */
export function readRecordFilters(filters: RecordFilters, command: Command): AuditQuery {
  const { query, problems } = readAuditQuery(withoutUndefined(filters));
  assertNoProblems(problems, command);
  return query;
}

/** Reads the flags that select records of a store: the client may be a name in the directory. @throws {CommanderError} */
export async function readNamedFilters(
  filters: RecordFilters,
  named: NamedClients,
  command: Command,
): Promise<AuditQuery> {
  const { query, problems } = await readNamedQuery(withoutUndefined(filters), readAuditQuery, named);
  assertNoProblems(problems, command);
  return query;
}
