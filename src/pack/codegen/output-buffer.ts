import { type Cursor, type PaddedText, PADDING } from "../../base/index.ts";

/** A JSON text of a response, as UTF-8 if it comes from a cache. */
export type OutputText = PaddedText | string | null | undefined;

const INITIAL_BYTES = 16 * 1024;

/** The buffer is reused up to this size. Larger texts are rare, and their memory is released. */
const MAX_RETAINED_BYTES = 1024 * 1024;

/** A growing buffer in which JSON text is written as UTF-8. Results are copies. */
export class OutputBuffer {
  /** Shared by all synchronous writers: each appends at the end and then removes the text that it appended. */
  static readonly shared = new OutputBuffer();

  bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  /** A view of the same bytes, to write eight at once. */
  view = new DataView(this.bytes.buffer);
  /** The number of written bytes. */
  at = 0;

  /**
   * Reserves space for `more` bytes, and for the rest of a group of eight after them. The caller writes at `at` and
   * then calls {@link commit}.
   */
  reserve(more: number): void {
    const most = this.at + more + PADDING;
    if (most > this.bytes.length) {
      const before = this.bytes;
      this.#allocate(Math.max(most, 2 * before.length));
      before.copy(this.bytes, 0, 0, this.at);
    }
  }

  #allocate(size: number): void {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.view = new DataView(this.bytes.buffer);
  }

  /**
   * Sets the end of the written bytes in the reserved space.
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
    this.reserve(3 * text.length);
    this.at = putText(this.bytes, this.at, text);
  }

  /** Removes the bytes after an offset, and returns them. */
  takeText(from: number): string {
    const text = this.bytes.toString("utf8", from, this.at);
    this.truncate(from);
    return text;
  }

  /** Does the same as {@link takeText}, but returns bytes. */
  takeBytes(from: number): Buffer {
    const bytes = Buffer.from(this.bytes.subarray(from, this.at));
    this.truncate(from);
    return bytes;
  }

  /** Removes the bytes after an offset. */
  truncate(from: number): void {
    this.at = from;
    if (from === 0 && this.bytes.length > MAX_RETAINED_BYTES) this.#allocate(INITIAL_BYTES);
  }
}

/** Returns the maximum number of bytes of a text: three for each UTF-16 code unit. */
export const sizeOf = (text: OutputText): number =>
  text === null || text === undefined ? 0 : 3 * text.length;

/**
 * Copies bytes in groups of eight, up to seven bytes more than `length`. Later output overwrites them. Floating-point
 * numbers carry a group without an allocation. No eight bytes of UTF-8 are a NaN, the only number whose bytes may
 * change.
 */
function putGroups(out: DataView, to: number, from: DataView, start: number, length: number): number {
  for (let at = 0; at < length; at += 8) out.setFloat64(to + at, from.getFloat64(start + at, true), true);
  return to + length;
}

/** Copies the bytes from `start` to `end`. @returns The offset behind the copy. */
export function putRange(
  out: DataView,
  to: number,
  { view, lastGroup }: Cursor,
  start: number,
  end: number,
): number {
  if (end + 4 <= lastGroup) return putGroups(out, to, view, start, end - start);
  for (let at = start; at < end; at += 1) out.setUint8(to + at - start, view.getUint8(at));
  return to + end - start;
}

/** Maximum number of characters for which a loop is faster than a native copy. */
const MAX_LOOP_LENGTH = 48;

function putText(bytes: Buffer, to: number, text: string): number {
  if (text.length > MAX_LOOP_LENGTH) return to + bytes.write(text, to);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return to + bytes.write(text, to);
    bytes[to + at] = code;
  }
  return to + text.length;
}

/** Writes a text, or `neutral` if there is none. @returns The offset after it. */
export function putTextOrNeutral(
  { bytes, view }: OutputBuffer,
  to: number,
  text: OutputText,
  neutral: PaddedText,
): number {
  if (typeof text === "string") return putText(bytes, to, text);
  const padded = text ?? neutral;
  return putGroups(view, to, padded.view, 0, padded.length);
}
