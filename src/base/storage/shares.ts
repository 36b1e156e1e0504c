/** Limits of a resource, for one owner and for all owners together. */
export interface ShareLimits {
  readonly all: number;
  readonly each: number;
}

/**
 * The use of a limited resource by each owner: connections, bytes, rows or calls. No owner may use up the resource, so
 * each has a limit, or the largest owners give up the excess.
 */
export class Shares<Owner = string> {
  readonly #taken = new Map<Owner, number>();
  #all = 0;

  /** The sum of all owners. */
  get all(): number {
    return this.#all;
  }

  /** The number of owners that use some of the resource. */
  get owners(): number {
    return this.#taken.size;
  }

  /** Returns the amount that an owner uses. */
  of(owner: Owner): number {
    return this.#taken.get(owner) ?? 0;
  }

  /** Returns whether an owner may take this amount. */
  hasRoom(owner: Owner, { all, each }: ShareLimits, amount = 1): boolean {
    return this.#all + amount <= all && this.of(owner) + amount <= each;
  }

  /** Takes an amount, even above the limits. */
  take(owner: Owner, amount = 1): void {
    const taken = this.of(owner) + amount;
    this.#all += amount;
    if (taken === 0) this.#taken.delete(owner);
    else this.#taken.set(owner, taken);
  }

  /** Takes an amount if the limits allow it. @returns whether they do */
  tryTake(owner: Owner, limits: ShareLimits, amount = 1): boolean {
    const hasRoom = this.hasRoom(owner, limits, amount);
    if (hasRoom) this.take(owner, amount);
    return hasRoom;
  }

  giveBack(owner: Owner, amount = 1): void {
    this.take(owner, -amount);
  }

  /** Returns the owners that use the most, with their amounts, the largest first. */
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
