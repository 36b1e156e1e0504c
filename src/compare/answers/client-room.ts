/** Bounded stores of comparisons, which one client can't fill. */
import { Shares } from "../../base/index.ts";
import { partsOf } from "../../gateway/index.ts";

/** The share of a bounded store that one client may fill, so that there is room for other clients. */
export const CLIENT_SHARE = 0.1;

/**
 * The use of a bounded store by clients, as named by `provenBy`. Each client may fill a share, which is counted by its
 * name, or by its token and its network.
 */
export class ClientRoom {
  readonly #most: number;
  readonly #byPart = new Shares();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the amount that a client may still add. */
  roomOf(by: string): number {
    const taken = Math.max(...partsOf(by).map((part) => this.#byPart.of(part)));
    return Math.max(0, Math.min(this.#most - this.#all, this.#most * CLIENT_SHARE - taken));
  }

  /** Adds an amount, regardless of limits. */
  take(by: string, amount = 1): void {
    this.#all += amount;
    for (const part of partsOf(by)) this.#byPart.take(part, amount);
  }

  /** Adds an amount if there is room for it. @returns whether there was room */
  tryTake(by: string, amount = 1): boolean {
    const hasRoom = amount <= this.roomOf(by);
    if (hasRoom) this.take(by, amount);
    return hasRoom;
  }

  giveBack(by: string, amount = 1): void {
    this.take(by, -amount);
  }
}
