/** Text that grows: what stands before, a unit as often as fits, what stands behind. */
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

/** Its bytes, as latin-1, of which there are at most `size` where it grows. */
export function grow(text: Text, size: number): string {
  if (typeof text === "string") return bytes(text);
  const { before, after } = { before: bytes(text.before), after: bytes(text.after) };
  const unit = bytes(text.unit);
  let left = size - before.length - after.length;
  if (!unit.includes("#")) return before + unit.repeat(Math.max(0, Math.floor(left / unit.length))) + after;
  const units: string[] = [];
  for (let count = 0; ; count += 1) {
    const copy = unit.replaceAll("#", count.toString(36));
    left -= copy.length;
    if (left < 0) break;
    units.push(copy);
  }
  return before + units.join("") + after;
}
