/** Text that grows: a prefix, a unit repeated as often as fits, and a suffix. */
export interface Pump {
  readonly before: string;
  /** Each `#` is the number of the copy, so that keys and names can be distinct. */
  readonly unit: string;
  readonly after: string;
}

/** Text as it is sent, in UTF-8. */
export type Text = string | Pump;

const bytes = (text: string): string =>
  /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString("latin1") : text;

/** A cache of repeated units with the end of each copy, since many texts share them. */
interface Copies {
  readonly text: string;
  readonly ends: readonly number[];
}

const MOST_COPIED = 64;
const copied = new Map<string, Copies>();

/** Copies of a unit with a number in each, up to `size` bytes. */
function copiesOf(unit: string, size: number): string {
  let copies = copied.get(unit);
  if (!copies || (copies.ends.at(-1) ?? 0) < size) {
    const units: string[] = [];
    const ends: number[] = [];
    for (let end = 0; end <= size; ends.push(end)) {
      const copy = unit.replaceAll("#", units.length.toString(36));
      units.push(copy);
      end += copy.length;
    }
    copies = { text: units.join(""), ends };
    if (copied.size >= MOST_COPIED) copied.clear();
    copied.set(unit, copies);
  }
  return copies.text.slice(0, copies.ends.findLast((end) => end <= size) ?? 0);
}

/** The bytes of a text as latin-1, at most `size` of them if it grows. */
export function grow(text: Text, size: number): string {
  if (typeof text === "string") return bytes(text);
  const { before, after } = { before: bytes(text.before), after: bytes(text.after) };
  const unit = bytes(text.unit);
  const left = Math.max(0, size - before.length - after.length);
  return (
    before + (unit.includes("#") ? copiesOf(unit, left) : unit.repeat(Math.floor(left / unit.length))) + after
  );
}
