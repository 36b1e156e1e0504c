/** The text that replaces a secret. */
export const REDACTED = "[redacted]";

/** A part of a text that is replaced. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  /** The replacement. Default: {@link REDACTED}. */
  readonly by?: string;
}

/** Replaces parts of a text. Overlapping parts are replaced together, and a part within a larger part with it. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const separate: Edit[] = [];
  for (const edit of edits.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = separate.at(-1);
    if (last === undefined || edit.start >= last.end) separate.push(edit);
    else if (edit.end > last.end) separate.splice(-1, 1, { start: last.start, end: edit.end });
  }
  let [replaced, done] = ["", 0];
  for (const { start, end, by = REDACTED } of separate) {
    replaced += text.slice(done, start) + by;
    done = end;
  }
  return replaced + text.slice(done);
}
