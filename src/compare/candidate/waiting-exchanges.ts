/** Requests that wait to be compared with the candidate, within the memory that they may take. */
import { createIsSameClient, type RouteMatch } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Exchange } from "../answers/second-answer.ts";

/** The requests that may wait, and their bytes: of bodies, v4's responses and answers. */
const MOST_WAITING = 100;
const MOST_BYTES = 16 * 1024 * 1024;
/** The part of both that one client may have. */
const CLIENT_SHARE = 0.25;

/** A request that waits to be compared. */
export interface Waiting {
  readonly pack: Pack;
  readonly match: RouteMatch;
  readonly exchange: Exchange;
  readonly provenBy: string;
  readonly bytes: number;
}

/** All of an exchange that stays in memory because of it. */
export function bytesOf({ context: { body, upstream }, outcome: { response } }: Exchange): number {
  let bytes = response.body.length + (body?.bytes.length ?? 0);
  for (const call of upstream?.calls ?? []) bytes += call.response?.bytes.length ?? 0;
  return bytes;
}

/** Requests that wait, the oldest first. */
export class WaitingExchanges {
  readonly #waiting: Waiting[] = [];
  #bytes = 0;

  isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a request. @returns whether there was room for it */
  add(next: Waiting): boolean {
    if (!this.#hasRoom(next)) return false;
    this.#waiting.push(next);
    this.#bytes += next.bytes;
    return true;
  }

  /** Takes out the oldest one. */
  shift(): Waiting | undefined {
    const next = this.#waiting.shift();
    this.#bytes -= next?.bytes ?? 0;
    return next;
  }

  clear(): void {
    this.#waiting.length = 0;
    this.#bytes = 0;
  }

  #hasRoom({ bytes, provenBy }: Waiting): boolean {
    const isSame = createIsSameClient(provenBy);
    const own = this.#waiting.filter((each) => isSame(each.provenBy));
    const ownBytes = own.reduce((sum, each) => sum + each.bytes, bytes);
    return (
      this.#waiting.length < MOST_WAITING &&
      this.#bytes + bytes <= MOST_BYTES &&
      own.length < MOST_WAITING * CLIENT_SHARE &&
      ownBytes <= MOST_BYTES * CLIENT_SHARE
    );
  }
}
