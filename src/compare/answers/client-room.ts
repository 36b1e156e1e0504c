/** Bounded stores of comparisons, in which one client can't crowd out the others. */
import { Shares } from "../../base/index.ts";
import { partsOf } from "../../gateway/index.ts";

/** The part of a bounded store that one client may fill, so that there is room for others. */
export const CLIENT_SHARE = 0.1;

/**
 * The use of a bounded store by clients, as `provenBy` names them. Each may fill a part: by its name, or by its token
 * and by its network.
 */
export class ClientRoom {
  readonly #most: number;
  readonly #byPart = new Shares();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How much a client may still add. */
  roomOf(by: string): number {
    const taken = Math.max(...partsOf(by).map((part) => this.#byPart.of(part)));
    return Math.max(0, Math.min(this.#most - this.#all, this.#most * CLIENT_SHARE - taken));
  }

  /** Takes an amount, regardless of limits. */
  take(by: string, amount = 1): void {
    this.#all += amount;
    for (const part of partsOf(by)) this.#byPart.take(part, amount);
  }

  /** Takes an amount if there is room for it. @returns whether there was */
  tryTake(by: string, amount = 1): boolean {
    const hasRoom = amount <= this.roomOf(by);
    if (hasRoom) this.take(by, amount);
    return hasRoom;
  }

  giveBack(by: string, amount = 1): void {
    this.take(by, -amount);
  }
}
