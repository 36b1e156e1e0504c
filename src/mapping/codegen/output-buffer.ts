/** A text that goes into an answer: as UTF-8 where it is kept ready. */
export type OutputText = Uint8Array | string | null | undefined;

const FIRST_BYTES = 16 * 1024;

/** What is kept for the next text; larger ones are rare, and their room is given back. */
const MOST_KEPT = 1024 * 1024;

/** Where JSON text is put together, as UTF-8. What is taken from it is a copy. */
export class OutputBuffer {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** How much is written. */
  at = 0;

  /** Makes room for so many bytes more, and gives where they go. */
  reserve(more: number): Buffer {
    const most = this.at + more;
    if (most > this.bytes.length) {
      const before = this.bytes;
      this.bytes = Buffer.allocUnsafeSlow(Math.max(most, 2 * before.length));
      before.copy(this.bytes, 0, 0, this.at);
    }
    return this.bytes;
  }

  /** Tells where what was written into the room ends. What an array has no place for it drops without a word. */
  commit(at: number): void {
    if (at > this.bytes.length)
      throw new RangeError(`written ${at} bytes where ${this.bytes.length} have room`);
    this.at = at;
  }

  /** Puts a text behind what is written. */
  append(text: string): void {
    this.at = putText(this.reserve(3 * text.length), this.at, text);
  }

  /** Takes back what is written from a place on. */
  takeText(from: number): string {
    const text = this.bytes.toString("utf8", from, this.at);
    this.truncate(from);
    return text;
  }

  /** The same as bytes. */
  takeBytes(from: number): Buffer {
    const bytes = Buffer.from(this.bytes.subarray(from, this.at));
    this.truncate(from);
    return bytes;
  }

  /** Forgets what is written from a place on. */
  truncate(from: number): void {
    this.at = from;
    if (from === 0 && this.bytes.length > MOST_KEPT) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }
}

/** One for all who write without a pause: each begins behind what is there, and takes away what it wrote. */
export const sharedOutputBuffer = new OutputBuffer();

/** Bytes that a text can take at most: three for each of a string's units. */
export function sizeOf(found: OutputText): number {
  if (found === null || found === undefined) return 0;
  return typeof found === "string" ? 3 * found.length : found.length;
}

/** Up to here a loop is quicker than a call that copies. */
const SHORT = 48;

/** Puts what stands between two places, and gives the place behind it. */
export function putRange(out: Buffer, to: number, bytes: Uint8Array, start: number, end: number): number {
  let place = to;
  if (end - start > SHORT) out.set(bytes.subarray(start, end), place);
  else for (let at = start; at < end; at += 1, place += 1) out[place] = bytes[at] as number;
  return to + end - start;
}

function putText(out: Buffer, to: number, text: string): number {
  if (text.length > SHORT) return to + out.write(text, to);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return to + out.write(text, to);
    out[to + at] = code;
  }
  return to + text.length;
}

function putBytes(out: Buffer, to: number, bytes: Uint8Array): number {
  if (bytes.length <= SHORT) for (let at = 0; at < bytes.length; at += 1) out[to + at] = bytes[at] as number;
  else out.set(bytes, to);
  return to + bytes.length;
}

/** Puts a text: `neutral` where there is none. */
export const putFound = (out: Buffer, to: number, found: OutputText, neutral: Uint8Array): number =>
  typeof found === "string" ? putText(out, to, found) : putBytes(out, to, found ?? neutral);
