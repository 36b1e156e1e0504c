/** Emits tests of what a member of the v4 object is, by the first byte of its value. A missing member ends at 0. */
import type { ByteRange } from "./member-scan.ts";

const firstByte = (text: string): number => text.charCodeAt(0);

/** Whether a member is there and not null. */
export const emitHasValue = ({ start, end }: ByteRange): string =>
  `${end} > 0 && bytes[${start}] !== ${firstByte("null")}`;

/** Whether a member is an object. */
export const emitIsObject = ({ start, end }: ByteRange): string =>
  `${end} > 0 && bytes[${start}] === ${firstByte("{")}`;

/** Whether a member is a list. */
export const emitIsList = ({ start, end }: ByteRange): string =>
  `${end} > 0 && bytes[${start}] === ${firstByte("[")}`;
