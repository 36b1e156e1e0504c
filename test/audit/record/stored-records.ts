/** Data folders with records, as gateways leave them. */
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { sampleRecord } from "./sample-record.ts";

/** Stores records in a new folder. @returns the folder */
export async function storeRecords(...records: readonly AuditRecord[]): Promise<string> {
  const directory = temporaryFolder();
  const store = await openSqliteStore({
    directory,
    durability: "relaxed",
    retentionDays: 36_500,
    sizeLimit: 1e12,
  });
  for (const record of records) await store.append(record);
  await store.close();
  return directory;
}

/** More records than one page of a store has. */
export function manyRecords(count: number): AuditRecord[] {
  const newId = createRecordIds();
  return Array.from({ length: count }, (_, n) =>
    sampleRecord(newId(), { time: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString() }),
  );
}
