import { PATIENCE, type Patience } from "./policy.ts";

/** Measures the rate of a body in its last seconds. */
export class BodyPace {
  readonly #begun = performance.now();
  readonly #patience: Patience;
  readonly #lengthOf: () => number;
  /** The lengths of the body at the last checks. */
  readonly #lengths: number[] = [];

  /** @param lengthOf returns the number of bytes of the body so far */
  constructor(isKnown: boolean, lengthOf: () => number) {
    this.#patience = PATIENCE[isKnown ? "known" : "unknown"];
    this.#lengthOf = lengthOf;
  }

  /** Records the length once per second. @returns whether the body is too slow */
  check(): boolean {
    const { seconds, bytesPerSecond, deadlineMs } = this.#patience;
    const length = this.#lengthOf();
    this.#lengths.push(length);
    if (performance.now() - this.#begun > deadlineMs) return true;
    if (this.#lengths.length <= seconds) return false;
    return length - (this.#lengths.shift() ?? 0) < seconds * bytesPerSecond;
  }

  /** Bytes since the second last check, at least a second ago. Undefined if the body is newer. */
  recentBytes(): number | undefined {
    const before = this.#lengths.at(-2);
    return before === undefined ? undefined : this.#lengthOf() - before;
  }
}
