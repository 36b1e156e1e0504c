/** Reads stored records. It validates their texts, because a damaged store may contain anything. */
import { z } from "zod";
import { tryParse } from "../record/json-text.ts";
import { LANES, type AuditRecord, type RecordedCall } from "../record/record.ts";
import { DamagedRecordError, type AuditPage, type StoreOptions, type TextPage } from "./store.ts";
import { REJECTIONS } from "../../pack/index.ts";

const text = z.string().nullable();
const texts = z.array(z.string());

/** The schemas of the members of a part of a record, except bodies, which may be any JSON. A new member does not compile without one. */
type Members<Part> = Readonly<Record<Exclude<keyof Part, "body" | "response">, z.ZodType>>;

/** The schema of a stored record. Unknown members are kept. */
const recordSchema = z.looseObject({
  id: z.string(),
  time: z.iso.datetime(),
  lane: z.enum(LANES),
  pack: z.string().optional(),
  requestId: z.string(),
  client: z.looseObject({
    fingerprint: text,
    accepted: z.boolean().optional(),
    application: z.string().optional(),
    label: z.string().optional(),
    userAgent: text,
    address: z.string(),
  } satisfies Members<AuditRecord["client"]>),
  alpha: z.looseObject({
    method: z.string(),
    path: z.string(),
    route: text,
    query: z.string(),
    ignored: texts.optional(),
    filter: text,
    status: z.int(),
    checksum: z.string().optional(),
  } satisfies Members<AuditRecord["alpha"]>),
  v4: z.array(
    z.looseObject({
      method: z.string(),
      path: z.string(),
      filter: text,
      status: z.int().nullable(),
      ms: z.number(),
    } satisfies Members<RecordedCall>),
  ),
  losses: texts,
  warnings: texts,
  timings: z.looseObject({ total: z.number(), upstream: z.number(), translation: z.number() }),
  bytes: z.looseObject({ in: z.number(), out: z.number() }),
  rejectedBy: z.enum(REJECTIONS).optional(),
  requests: z.int().optional(),
} satisfies Members<Omit<AuditRecord, "sent" | "lost">>);

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
