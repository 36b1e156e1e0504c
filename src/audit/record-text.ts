import { JsonText } from "./json-text.ts";
import type { AuditRecord, RecordedBody } from "./record.ts";

/** A record as one line of JSON in UTF-8: pieces of it, in order. */
export interface SerializedRecord {
  readonly parts: readonly Uint8Array[];
  /** Bytes of all parts. */
  readonly size: number;
}

/** Shorter bodies are copied: a reference would keep the larger buffer that they are part of in memory. */
const MIN_REFERENCED_BYTES = 4096;

/** The same bytes, as a copy where they would keep a larger buffer in memory. */
export const ownBytes = (bytes: Buffer): Buffer =>
  bytes.length < MIN_REFERENCED_BYTES || bytes.buffer.byteLength > 2 * bytes.length
    ? Buffer.from(bytes)
    : bytes;

/** Collects JSON text and the bytes of bodies. Large bodies are referenced and not copied. */
class RecordWriter {
  readonly #parts: Uint8Array[] = [];
  #text = "";

  add(text: string): void {
    this.#text += text;
  }

  addBody(name: string, body: RecordedBody): void {
    if (body instanceof JsonText) {
      this.add(`,"${name}":`);
      this.#addBytes(body.bytes);
      return;
    }
    const text = JSON.stringify(body);
    if (text !== undefined) this.add(`,"${name}":${text}`);
  }

  #addBytes(body: Buffer): void {
    const bytes = onOneLine(body);
    if (bytes.length < MIN_REFERENCED_BYTES) return this.add(bytes.toString());
    this.#flush();
    this.#parts.push(ownBytes(bytes));
  }

  #flush(): void {
    if (this.#text !== "") this.#parts.push(Buffer.from(this.#text));
    this.#text = "";
  }

  end(): SerializedRecord {
    this.#flush();
    return { parts: this.#parts, size: this.#parts.reduce((sum, { length }) => sum + length, 0) };
  }
}

const LINE_FEED = 0x0a;

/** JSON has line feeds only between its tokens, where a space is the same. */
function onOneLine(json: Buffer): Buffer {
  if (!json.includes(LINE_FEED)) return json;
  return Buffer.from(json.map((byte) => (byte === LINE_FEED ? 0x20 : byte)));
}

/** Bodies come last, so that their bytes can be put behind the rest as they are. */
function addCall(
  writer: RecordWriter,
  { body, response, ...rest }: AuditRecord["alpha"] | AuditRecord["v4"][number],
): void {
  writer.add(JSON.stringify(rest).slice(0, -1));
  writer.addBody("body", body);
  writer.addBody("response", response);
  writer.add("}");
}

const hasBody = ({ body, response }: AuditRecord["alpha"] | AuditRecord["v4"][number]): boolean =>
  body !== undefined || response !== undefined;

/** Serialises a record as a line of JSON, with its line feed. @throws {TypeError} If a body can't be JSON. */
export function serializeRecord(record: AuditRecord): SerializedRecord {
  if (hasBody(record.alpha) || record.v4.some(hasBody)) return serializeWithBodies(record);
  const line = Buffer.from(`${JSON.stringify(record)}\n`);
  return { parts: [line], size: line.length };
}

function serializeWithBodies({ alpha, v4, ...rest }: AuditRecord): SerializedRecord {
  const writer = new RecordWriter();
  writer.add(`${JSON.stringify(rest).slice(0, -1)},"alpha":`);
  addCall(writer, alpha);
  writer.add(',"v4":[');
  v4.forEach((call, index) => {
    if (index > 0) writer.add(",");
    addCall(writer, call);
  });
  writer.add("]}\n");
  return writer.end();
}
