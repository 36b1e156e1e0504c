import type { Command } from "commander";
import {
  type AuditQuery,
  type NamedClients,
  readAuditQuery,
  readNamedQuery,
  RECORD_FILTERS,
  type RecordFilter,
} from "../../../audit/index.ts";

/** The flags that select audit records. */
export type RecordFilters = Readonly<Partial<Record<RecordFilter, string>>>;

/** The texts of these flags, without the other flags of the command. */
const textsOf = (flags: RecordFilters): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(RECORD_FILTERS.map((name) => [name, flags[name]]));

interface Problem {
  readonly parameter?: string;
  readonly reason: string;
}

/** Ends the command if there are problems. All of them are reported, with their flags. @throws {CommanderError} */
export function assertNoProblems(problems: readonly Problem[], command: Command): void {
  const lines = problems.map(({ parameter, reason }) => `  --${parameter}: ${reason}`);
  if (lines.length > 0) command.error(["error: invalid flags:", ...lines].join("\n"));
}

/** Reads the flags that select audit records. @throws {CommanderError} with all problems */
export function readRecordFilters(filters: RecordFilters, command: Command): AuditQuery {
  const { query, problems } = readAuditQuery(textsOf(filters));
  assertNoProblems(problems, command);
  return query;
}

/** Reads the flags that select records of a store: the client may be a name in the directory. @throws {CommanderError} */
export async function readNamedFilters(
  filters: RecordFilters,
  named: NamedClients,
  command: Command,
): Promise<AuditQuery> {
  const { query, problems } = await readNamedQuery(textsOf(filters), readAuditQuery, named);
  assertNoProblems(problems, command);
  return query;
}
