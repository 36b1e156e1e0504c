import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditRecord } from "../../../src/audit/record.ts";

/** Reads a file of `fixtures/`: a store as an earlier version has written it, as SQL. */
export const readFixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures", name), "utf8");

/** The records of these stores, sorted by their ids. */
export const fixtureRecords = (): AuditRecord[] => JSON.parse(readFixture("records.json")) as AuditRecord[];

/** Compares two records by their ids. */
export const byId = (one: AuditRecord, other: AuditRecord): number => (one.id < other.id ? -1 : 1);
