/** The text that replaces a secret. */
export const REDACTED = "[redacted]";

/** A part of a text that is replaced. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  /** The replacement. Default: {@link REDACTED}. */
  readonly by?: string;
}

/**
 * Replaces parts of a text. Overlapping parts are replaced together. A part within a larger part is replaced together
 * with it.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let replaced = "";
  let done = 0;
  let last: Edit | undefined;
  const write = ({ start, end, by = REDACTED }: Edit): void => {
    replaced += text.slice(done, start) + by;
    done = end;
  };
  for (const edit of edits.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    if (last === undefined || edit.start >= last.end) {
      if (last) write(last);
      last = edit;
    } else if (edit.end > last.end) last = { start: last.start, end: edit.end };
  }
  if (!last) return text;
  write(last);
  return replaced + text.slice(done);
}
