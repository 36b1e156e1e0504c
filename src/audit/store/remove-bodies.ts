import { isObject } from "../../base/json/parse.ts";
import { tryParse } from "../record/json-text.ts";
import type { AuditRecord } from "../record/record.ts";
import { omittedBody } from "../record/truncate.ts";

const REMOVED = omittedBody(undefined, "removed, because AUDIT_SIZE_LIMIT was reached");

type Exchange = Pick<AuditRecord["alpha"], "body" | "response" | "checksum">;

const withoutBodies = (exchange: Exchange): object => ({
  ...exchange,
  // JSON omits undefined members.
  checksum: undefined,
  ...(exchange.body !== undefined && { body: REMOVED }),
  ...(exchange.response !== undefined && { response: REMOVED }),
});

/** Whether a text contains calls like a record. Nothing else is checked, because readers validate records. */
const hasCalls = (value: unknown): value is Pick<AuditRecord, "alpha" | "v4"> =>
  isObject(value) && isObject(value["alpha"]) && Array.isArray(value["v4"]) && value["v4"].every(isObject);

/** Removes the bodies of a record. @returns the same line if it is not a record, or would not become shorter */
export function removeBodies(line: Uint8Array): Uint8Array {
  const record = tryParse(Buffer.from(line).toString())?.value;
  if (!hasCalls(record)) return line;
  const { alpha, v4 } = record;
  const bare = JSON.stringify({ ...record, alpha: withoutBodies(alpha), v4: v4.map(withoutBodies) });
  const bytes = Buffer.from(`${bare}\n`);
  return bytes.length < line.length ? bytes : line;
}
