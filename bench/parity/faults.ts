/** The mistakes of `faults.yaml`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { REQUESTS } from "./requests.ts";

/** A mistake in a pack: one edit of one file. */
export interface Fault {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The requests that exercise it. */
  readonly requests: keyof typeof REQUESTS;
  /** The field in which it shows. */
  readonly field: string;
}

interface Faults {
  /** In fields that have the same value each time. */
  readonly stable: readonly Fault[];
  /** In fields that have another value each time. */
  readonly volatile: readonly Fault[];
}

export const { stable: FAULTS, volatile: VOLATILE_FAULTS } = parse(
  readFileSync(join(import.meta.dirname, "faults.yaml"), "utf8"),
) as Faults;
