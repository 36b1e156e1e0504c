/** How much one owner may take of something bounded, and all owners together. */
export interface ShareLimits {
  readonly all: number;
  readonly each: number;
}

/**
 * The use of a limited resource by each owner: connections, bytes, rows or calls. No owner may crowd out the others,
 * so each has a limit, or the excess is taken from the largest owners.
 */
export class Shares<Owner = string> {
  readonly #taken = new Map<Owner, number>();
  #all = 0;

  /** The sum of all owners. */
  get all(): number {
    return this.#all;
  }

  /** How many owners have taken something. */
  get owners(): number {
    return this.#taken.size;
  }

  /** The amount of one owner. */
  of(owner: Owner): number {
    return this.#taken.get(owner) ?? 0;
  }

  /** Whether an owner may take this amount. */
  hasRoom(owner: Owner, { all, each }: ShareLimits, amount = 1): boolean {
    return this.#all + amount <= all && this.of(owner) + amount <= each;
  }

  /** Takes an amount, regardless of limits. */
  take(owner: Owner, amount = 1): void {
    const taken = this.of(owner) + amount;
    this.#all += amount;
    if (taken === 0) this.#taken.delete(owner);
    else this.#taken.set(owner, taken);
  }

  /** Takes an amount if there is room for it. @returns whether there was */
  tryTake(owner: Owner, limits: ShareLimits, amount = 1): boolean {
    const hasRoom = this.hasRoom(owner, limits, amount);
    if (hasRoom) this.take(owner, amount);
    return hasRoom;
  }

  giveBack(owner: Owner, amount = 1): void {
    this.take(owner, -amount);
  }

  /** The owners that have taken the most, with their amounts: the largest first. */
  largest(count: number): [owner: Owner, taken: number][] {
    return this.entries()
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, count);
  }

  entries(): [owner: Owner, taken: number][] {
    return [...this.#taken];
  }

  clear(): void {
    this.#taken.clear();
    this.#all = 0;
  }
}
