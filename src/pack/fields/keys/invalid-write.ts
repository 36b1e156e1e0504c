/** The result of a write for a value of a body that can't be translated. */
import type { ExpressionError } from "../../../jsonata/index.ts";
import type { UnknownValue } from "../../values/value-kind.ts";

/** The reason why a member can't be translated. */
export interface WriteFault {
  /** The dotted path below the member; empty for the member itself. */
  readonly below: string;
  /** An id that the catalog does not contain, a value that the table does not contain, or the expression that failed. */
  readonly cause: "unknown id" | UnknownValue | ExpressionError;
}

/** The result of a write for a value that can't be translated. */
export class InvalidWrite {
  readonly faults: readonly WriteFault[];

  constructor(faults: readonly WriteFault[]) {
    this.faults = faults;
  }
}

/** The result of a write for a member that has one fault. */
export const invalidValue = (cause: WriteFault["cause"]): InvalidWrite =>
  new InvalidWrite([{ below: "", cause }]);

/** Merges the translated items of a list. Returns the list, or the faults of its items. */
export const listOrFaults = (items: readonly unknown[]): unknown => {
  const faults = items.flatMap((item) => (item instanceof InvalidWrite ? item.faults : []));
  return faults.length > 0 ? new InvalidWrite(faults) : items;
};
