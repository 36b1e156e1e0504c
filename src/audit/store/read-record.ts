/** Reads stored records. It validates their texts, because a damaged store may contain anything. */
import { tryParse } from "../record/json-text.ts";
import { recordSchema, type AuditRecord } from "../record/record.ts";
import { DamagedRecordError, type AuditPage, type StoreOptions, type TextPage } from "./store.ts";

/** @returns undefined for a text that is not a record. */
export function tryReadRecord(stored: string): AuditRecord | undefined {
  const parsed = tryParse(stored);
  // Returns the parsed value itself, so that numbers keep all their digits and members their order.
  return parsed && recordSchema.safeParse(parsed.value).success ? (parsed.value as AuditRecord) : undefined;
}

/** Reads the record with an id. @throws {DamagedRecordError} if the text is not a record. */
export function readRecord(id: string, stored: string): AuditRecord {
  const record = tryReadRecord(stored);
  if (record === undefined) throw new DamagedRecordError(id);
  return record;
}

/** Reads the records of a page. Damaged records are omitted, so that the others can be read. */
export function readPage(
  { records: texts, next }: TextPage,
  { onDamaged }: Pick<StoreOptions, "onDamaged">,
): AuditPage {
  const records = texts.map(tryReadRecord).filter((record) => record !== undefined);
  if (records.length < texts.length) onDamaged?.(texts.length - records.length);
  return { records, next };
}
