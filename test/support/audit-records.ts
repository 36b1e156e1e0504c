import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { openExistingAuditStore } from "../../src/audit/store/open-audit-store.ts";
import { exportTexts } from "../../src/audit/export/export-records.ts";
import type { AuditRecord } from "../../src/audit/record/record.ts";

/** Reads all records of a gateway's audit store, newest first. */
export async function readAuditRecords(
  place: { readonly folder: string } | { readonly url: string },
): Promise<AuditRecord[]> {
  const settings =
    "url" in place
      ? { DATABASE_URL: place.url, DATA_DIR: "" }
      : { DATABASE_URL: undefined, DATA_DIR: place.folder };
  const store = await openExistingAuditStore(settings);
  const texts: string[] = [];
  try {
    for await (const text of exportTexts(store, { format: "ndjson", query: {} })) texts.push(text);
  } finally {
    await store.close();
  }
  const lines = texts.join("").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as AuditRecord);
}

/** The decompressed text of all segments of a SQLite store. */
export function readSegments(folder: string): string {
  const database = new DatabaseSync(join(folder, "audit.db"), { readOnly: true });
  try {
    return database
      .prepare("SELECT data FROM audit_segment")
      .all()
      .map(({ data }) => zstdDecompressSync(data as Uint8Array).toString())
      .join("");
  } finally {
    database.close();
  }
}
