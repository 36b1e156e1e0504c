import { z } from "zod";
import type { AuditRecord } from "../../audit/record.ts";
import type { AuditQuery } from "../../audit/store.ts";
import { parseJson } from "../../dialect/json/parse.ts";
import { InvalidExportError } from "./no-export.ts";

/** Far longer than a record can be. */
const LONGEST_LINE = 64 * 1024 * 1024;
/** A record holds bodies, which are nested as deep as they came. */
const DEPTH = 200;

const text = z.string().nullable();

/** As much of a record as a replay needs; all else is let through. */
const record = z.looseObject({
  id: z.string(),
  time: z.string(),
  lane: z.enum(["alpha", "native"]),
  client: z.looseObject({ fingerprint: text, address: z.string() }),
  alpha: z.looseObject({
    method: z.string(),
    path: z.string(),
    route: text,
    query: z.string(),
    filter: text,
    status: z.int(),
  }),
  v4: z.array(
    z.looseObject({ method: z.string(), path: z.string(), filter: text, status: z.int().nullable() }),
  ),
});

function recordOf(line: string, number: number): AuditRecord {
  try {
    return record.parse(parseJson(line, { maxDepth: DEPTH })) as unknown as AuditRecord;
  } catch {
    throw new InvalidExportError(
      `Line ${number} is no audit record: an export is NDJSON, as /api/audit/export gives it.`,
    );
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE) throw new InvalidExportError("A line is longer than any record.");
    yield* lines;
  }
  yield rest;
}

/** The records of an export, one at a time. @throws {InvalidExportError} */
export async function* readRecords(chunks: AsyncIterable<string>): AsyncGenerator<AuditRecord> {
  let number = 0;
  for await (const line of linesOf(chunks)) {
    number += 1;
    if (line.trim() !== "") yield recordOf(line, number);
  }
}

/** Whether a record is asked for. Moments are compared as text: all are written alike (`Date.toISOString`). */
export function isAskedFor({ time, client, alpha }: AuditRecord, query: AuditQuery): boolean {
  return (
    (query.client === undefined || client.fingerprint === query.client) &&
    (query.route === undefined || alpha.route === query.route) &&
    (query.status === undefined || alpha.status === query.status) &&
    (query.since === undefined || time >= query.since) &&
    (query.until === undefined || time < query.until)
  );
}
