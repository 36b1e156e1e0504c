/**
 * A short text in UTF-8 that is copied eight bytes at a time. Zeros follow it, so that its last bytes can be read as a
 * whole group.
 */
export interface PaddedText {
  readonly view: DataView;
  /** The number of bytes, without the zeros. */
  readonly length: number;
}

/** Number of bytes after a text: a group of eight that starts at its last byte needs seven more. */
export const PADDING = 7;

/** Copies a text. */
export function paddedText(text: string): PaddedText {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.alloc(length + PADDING);
  bytes.write(text);
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length };
}

export const toText = ({ view, length }: PaddedText): string =>
  Buffer.from(view.buffer, view.byteOffset, length).toString();
