import { JsonText } from "./json-text.ts";
import type { AuditRecord, RecordedBody } from "./record.ts";

/** A record as one line of JSON, in parts. Bodies are bytes, which are not copied. */
export interface SerializedRecord {
  readonly parts: readonly (string | Buffer)[];
  /** Size of the line in UTF-8, including its line feed. */
  readonly size: number;
}

/** Collects JSON text and the bytes of bodies. */
class RecordWriter {
  readonly #parts: (string | Buffer)[] = [];
  #text = "";
  #size = 0;

  add(text: string): void {
    this.#text += text;
  }

  addBody(name: string, body: RecordedBody): void {
    if (body instanceof JsonText) {
      this.add(`,"${name}":`);
      this.#flush();
      this.#parts.push(body.bytes);
      this.#size += body.bytes.length;
      return;
    }
    const text = JSON.stringify(body);
    if (text !== undefined) this.add(`,"${name}":${text}`);
  }

  #flush(): void {
    this.#parts.push(this.#text);
    this.#size += Buffer.byteLength(this.#text);
    this.#text = "";
  }

  end(): SerializedRecord {
    this.#flush();
    return { parts: this.#parts, size: this.#size };
  }
}

/** Bodies come last, so that their bytes follow the rest unchanged. */
function addCall(writer: RecordWriter, call: AuditRecord["alpha"] | AuditRecord["v4"][number]): void {
  writer.add(JSON.stringify({ ...call, body: undefined, response: undefined }).slice(0, -1));
  writer.addBody("body", call.body);
  writer.addBody("response", call.response);
  writer.add("}");
}

const hasBody = ({ body, response }: AuditRecord["alpha"] | AuditRecord["v4"][number]): boolean =>
  body !== undefined || response !== undefined;

/** The stored members of a record, in order. */
type StoredHead = { readonly [Key in Exclude<keyof AuditRecord, "sent" | "lost">]: unknown };

/**
 * Returns the stored members. JSON omits undefined members. All members are listed, because V8 is slow at copying
 * objects without some members.
 */
const headOf = (
  record: AuditRecord,
  { alpha, v4 }: Partial<Pick<AuditRecord, "alpha" | "v4">>,
): StoredHead => ({
  id: record.id,
  time: record.time,
  lane: record.lane,
  pack: record.pack,
  requestId: record.requestId,
  client: record.client,
  alpha,
  v4,
  losses: record.losses,
  warnings: record.warnings,
  timings: record.timings,
  bytes: record.bytes,
  rejectedBy: record.rejectedBy,
  requests: record.requests,
});

/**
 * Serialises a record as a line of JSON, with its line feed. Members that are only counted are omitted.
 *
 * @throws {TypeError} If a body can't be JSON.
 */
export function serializeRecord(record: AuditRecord): SerializedRecord {
  if (hasBody(record.alpha) || record.v4.some(hasBody)) return serializeWithBodies(record);
  const line = `${JSON.stringify(headOf(record, record))}\n`;
  return { parts: [line], size: Buffer.byteLength(line) };
}

function serializeWithBodies(record: AuditRecord): SerializedRecord {
  const writer = new RecordWriter();
  writer.add(`${JSON.stringify(headOf(record, {})).slice(0, -1)},"alpha":`);
  addCall(writer, record.alpha);
  writer.add(',"v4":[');
  record.v4.forEach((call, index) => {
    if (index > 0) writer.add(",");
    addCall(writer, call);
  });
  writer.add("]}\n");
  return writer.end();
}

const LINE_FEED = 0x0a;
const SPACE = 0x20;

/** Writes a record to a buffer that has space for it. */
export function writeRecord({ parts }: SerializedRecord, target: Buffer, start: number): void {
  let at = start;
  for (const part of parts) {
    if (typeof part === "string") at += target.write(part, at);
    else at += writeBody(part, target, at);
  }
}

/**
 * Writes a body without line feeds. JSON only contains them between its tokens, where a space has the same meaning.
 * @returns the number of bytes of the body
 */
function writeBody(body: Buffer, target: Buffer, start: number): number {
  target.set(body, start);
  const first = body.indexOf(LINE_FEED);
  if (first !== -1)
    for (let at = start + first; at < start + body.length; at += 1)
      if (target[at] === LINE_FEED) target[at] = SPACE;
  return body.length;
}
