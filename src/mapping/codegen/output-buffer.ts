/** A JSON text of a response: UTF-8 bytes where it comes from a cache. */
export type OutputText = Uint8Array | string | null | undefined;

const INITIAL_BYTES = 16 * 1024;

/** The buffer is reused up to this size. Larger texts are rare, and their memory is released. */
const MAX_RETAINED_BYTES = 1024 * 1024;

/** A growing buffer in which JSON text is written as UTF-8. What is taken from it is a copy. */
export class OutputBuffer {
  bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  /** The number of bytes written. */
  at = 0;

  /** Makes space for `more` bytes and returns the buffer. The caller writes at `at` and then calls {@link commit}. */
  reserve(more: number): Buffer {
    const most = this.at + more;
    if (most > this.bytes.length) {
      const before = this.bytes;
      this.bytes = Buffer.allocUnsafeSlow(Math.max(most, 2 * before.length));
      before.copy(this.bytes, 0, 0, this.at);
    }
    return this.bytes;
  }

  /**
   * Sets the end of what was written into the reserved space.
   *
   * @throws {RangeError} If more was written than reserved, since a typed array drops such bytes silently.
   */
  commit(at: number): void {
    if (at > this.bytes.length)
      throw new RangeError(`wrote ${at} bytes into a buffer of ${this.bytes.length}`);
    this.at = at;
  }

  /** Appends a text. */
  append(text: string): void {
    this.at = putText(this.reserve(3 * text.length), this.at, text);
  }

  /** Removes what was written from an offset on, and returns it. */
  takeText(from: number): string {
    const text = this.bytes.toString("utf8", from, this.at);
    this.truncate(from);
    return text;
  }

  /** {@link takeText} as bytes. */
  takeBytes(from: number): Buffer {
    const bytes = Buffer.from(this.bytes.subarray(from, this.at));
    this.truncate(from);
    return bytes;
  }

  /** Removes what was written from an offset on. */
  truncate(from: number): void {
    this.at = from;
    if (from === 0 && this.bytes.length > MAX_RETAINED_BYTES)
      this.bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }
}

/** Shared by all synchronous writers: each appends at the end and removes what it appended. */
export const sharedOutputBuffer = new OutputBuffer();

/** The most bytes that a text can take: three for each UTF-16 code unit. */
export function sizeOf(text: OutputText): number {
  if (text === null || text === undefined) return 0;
  return typeof text === "string" ? 3 * text.length : text.length;
}

/** Up to this many bytes a loop is faster than a native copy. */
const MAX_LOOP_BYTES = 48;

/** Copies the bytes from `start` to `end`. @returns The offset behind the copy. */
export function putRange(out: Buffer, to: number, bytes: Uint8Array, start: number, end: number): number {
  let offset = to;
  if (end - start > MAX_LOOP_BYTES) out.set(bytes.subarray(start, end), offset);
  else for (let at = start; at < end; at += 1, offset += 1) out[offset] = bytes[at] as number;
  return to + end - start;
}

function putText(out: Buffer, to: number, text: string): number {
  if (text.length > MAX_LOOP_BYTES) return to + out.write(text, to);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return to + out.write(text, to);
    out[to + at] = code;
  }
  return to + text.length;
}

function putBytes(out: Buffer, to: number, bytes: Uint8Array): number {
  if (bytes.length <= MAX_LOOP_BYTES)
    for (let at = 0; at < bytes.length; at += 1) out[to + at] = bytes[at] as number;
  else out.set(bytes, to);
  return to + bytes.length;
}

/** Writes a text, or `neutral` where there is none. @returns The offset behind it. */
export const putTextOrNeutral = (out: Buffer, to: number, text: OutputText, neutral: Uint8Array): number =>
  typeof text === "string" ? putText(out, to, text) : putBytes(out, to, text ?? neutral);
