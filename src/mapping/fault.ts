/** One thing that is wrong with a pack, where an editor finds it. Line and column count from 1. */
export interface PackFault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A pack that can't be used: every fault that was found, not just the first. */
export class PackError extends Error {
  override readonly name = "PackError";
  readonly faults: readonly PackFault[];

  constructor(faults: readonly PackFault[]) {
    super(faults.map(faultLine).join("\n"));
    this.faults = faults;
  }
}

/** `mappings/vm.yaml:42:17 unknown catalog "datacentres"`. */
export const faultLine = (fault: PackFault): string =>
  `${fault.file}:${fault.line}:${fault.column} ${fault.message}`;
