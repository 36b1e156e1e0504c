/** The result of a check of the laws. */

/**
 * A finding. `changed`: a client reads another value than it wrote. That can be deliberate. `unstable`: what it reads
 * changes again when it is written back. `filter`: a filter by the value that clients read does not select the object.
 * `check`: a check of a body fails on a null that the schema allows. `error`: an error loses a text or a field.
 */
export interface LawFinding {
  readonly kind: "changed" | "unstable" | "filter" | "check" | "error";
  /** `book.title in "create"`, or the object. */
  readonly subject: string;
  readonly value: unknown;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** The number of cases of a check, and its findings. */
export interface LawReport {
  readonly cases: number;
  /** Members that no value could be generated for. */
  readonly untested: readonly string[];
  readonly findings: readonly LawFinding[];
}

/** A report while it is written. */
export interface MutableReport {
  cases: number;
  readonly untested: string[];
  readonly findings: LawFinding[];
}
