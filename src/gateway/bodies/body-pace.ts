import { PATIENCE, type Patience } from "./policy.ts";

/** How fast a body comes: what counts are its last seconds, however fast it came before. */
export class BodyPace {
  readonly #begun = performance.now();
  readonly #patience: Patience;
  readonly #lengthOf: () => number;
  /** Its length at the last checks. */
  readonly #lengths: number[] = [];

  /** @param lengthOf bytes of the body so far */
  constructor(isKnown: boolean, lengthOf: () => number) {
    this.#patience = PATIENCE[isKnown ? "known" : "unknown"];
    this.#lengthOf = lengthOf;
  }

  /** Notes the length, each second. @returns whether the body is too slow */
  check(): boolean {
    const { seconds, bytesPerSecond, deadlineMs } = this.#patience;
    const length = this.#lengthOf();
    this.#lengths.push(length);
    if (performance.now() - this.#begun > deadlineMs) return true;
    if (this.#lengths.length <= seconds) return false;
    return length - (this.#lengths.shift() ?? 0) < seconds * bytesPerSecond;
  }

  /** Bytes that have come since the last check but one, at least a second ago; undefined: it is newer. */
  recentBytes(): number | undefined {
    const before = this.#lengths.at(-2);
    return before === undefined ? undefined : this.#lengthOf() - before;
  }
}
