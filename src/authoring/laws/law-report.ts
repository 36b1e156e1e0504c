/** The result of a check of the laws. */

/**
 * A finding. `changed`: a client reads a different value than it wrote, which can be deliberate. `unstable`: that value
 * changes again if it is written back. `filter`: a filter by the value that clients read does not select the object.
 * `check`: a check of a body fails on a null that the schema allows. `error`: an error loses a text or a field.
 */
export interface LawFinding {
  readonly kind: "changed" | "unstable" | "filter" | "check" | "error";
  /** The subject: `book.title in "create"`, or the object. */
  readonly subject: string;
  readonly value: unknown;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** The number of cases of a check, and its findings. */
export interface LawReport {
  readonly cases: number;
  /** Members for which no value could be generated. */
  readonly untested: readonly string[];
  readonly findings: readonly LawFinding[];
}

/** A report while it is written. */
export interface MutableReport {
  cases: number;
  readonly untested: string[];
  readonly findings: LawFinding[];
}
