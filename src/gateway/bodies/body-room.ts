import { HttpError } from "../../pack/index.ts";
import { ShareUsage, type ShareClient } from "../upstream/share-usage.ts";
import { BODY_MEMORY, LEAST_AWAITED_BYTES, SMALL_BODIES, WAITING_BODIES } from "./policy.ts";

export const isSmallBody = (bytes: number): boolean => bytes <= SMALL_BODIES.bytes;

/** Too many other bodies are in memory. Clients treat a 500 as temporary. */
const busy = (): HttpError =>
  new HttpError(500, "The service is busy. Try again later.", {
    by: "bodies",
    warning: "too many bodies are in memory",
  });

const tooSlow = (): HttpError =>
  new HttpError(400, "The body came too slowly while others waited for its memory.");

/** The memory for the bodies of clients. Two of the largest bodies always fit. */
function createUsage(all: number, largest: number): ShareUsage {
  const share = (part: number, bodies: number): number => Math.max(all * part, bodies * largest);
  return new ShareUsage({
    size: share(1, 4),
    token: share(1 / 2, 2),
    networkPerFree: 3,
    unknown: share(1 / 4, 2),
    unknownPerFree: 1,
    unknownPerNetwork: share(1 / 16, 2),
  });
}

/** A body in memory, or a part of it. */
export interface HeldBody {
  readonly owner: ShareClient;
  /** Whether the declared length makes it a large body. */
  readonly isDeclaredLarge: boolean;
  /** Bytes that the body occupies. Only the `BodyRoom` changes this. */
  held: number;
  /** Bytes received in the last one or two seconds. Undefined if this is unknown. */
  recentBytes(): number | undefined;
  /** Ends the body while it is being received. */
  fail(error: HttpError): void;
}

interface Waiter {
  readonly body: HeldBody;
  /** Number of requested bytes. */
  readonly bytes: number;
  readonly onRoom: () => void;
}

const hasAcceptedToken = ({ owner }: HeldBody): boolean => owner.isKnown && owner.token !== undefined;

/** The memory for bodies of a process. */
export class BodyRoom<Body extends HeldBody = HeldBody> {
  /** The bodies that are being received. */
  readonly coming = new Set<Body>();
  readonly #small = createUsage(SMALL_BODIES.bodies * SMALL_BODIES.bytes, SMALL_BODIES.bytes);
  readonly #large: ShareUsage;
  readonly #queue = createUsage(WAITING_BODIES.bodies, 1);
  readonly #waiters = new Set<Waiter>();

  /** @param bodyLimit maximum number of bytes of a body */
  constructor(bodyLimit: number) {
    this.#large = createUsage(Math.min(BODY_MEMORY.bodies * bodyLimit, BODY_MEMORY.bytes), bodyLimit);
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#small.all + this.#large.all;
  }

  /** Sets the number of bytes that a body occupies, more or fewer than before. @returns false if there is no room */
  resize(body: HeldBody, bytes: number): boolean {
    if (bytes > body.held && !this.#hasRoom(body, bytes)) return false;
    const [before, after] = [this.#partOf(body, body.held), this.#partOf(body, bytes)];
    const givesBack = bytes < body.held || (before !== after && body.held > 0);
    before.count(body.owner, -body.held);
    after.count(body.owner, bytes);
    body.held = bytes;
    if (givesBack)
      for (const waiter of this.#waiters) if (this.resize(waiter.body, waiter.bytes)) waiter.onRoom();
    return true;
  }

  /**
   * Waits until a body may occupy this many bytes. The returned function leaves the queue.
   *
   * @param onRoom called when the body occupies them. @param onBusy called if there is no room in time
   */
  waitFor(body: HeldBody, bytes: number, onRoom: () => void, onBusy: (error: HttpError) => void): () => void {
    if (!this.#queue.isWithin(body.owner)) {
      onBusy(busy());
      return () => {};
    }
    const leave = (): void => {
      clearTimeout(timer);
      if (this.#waiters.delete(waiter)) this.#queue.count(body.owner, -1);
    };
    const timer = setTimeout(() => {
      leave();
      onBusy(busy());
    }, WAITING_BODIES.ms);
    const waiter: Waiter = {
      body,
      bytes,
      onRoom() {
        leave();
        onRoom();
      },
    };
    this.#waiters.add(waiter);
    this.#queue.count(body.owner, 1);
    this.#makeRoom(waiter);
    return leave;
  }

  /** Ends bodies that are too slow while other bodies wait for room. */
  makeRoom(): void {
    for (const waiter of this.#waiters) this.#makeRoom(waiter);
  }

  #partOf({ isDeclaredLarge }: HeldBody, bytes: number): ShareUsage {
    return isDeclaredLarge || !isSmallBody(bytes) ? this.#large : this.#small;
  }

  #hasRoom(body: HeldBody, bytes: number): boolean {
    const part = this.#partOf(body, bytes);
    const held = part === this.#partOf(body, body.held) ? body.held : 0;
    return part.isWithin(body.owner, bytes - held);
  }

  /**
   * Ends the slowest bodies of networks that occupy more than the waiting body's network, until there is enough room.
   * If ending all of them would not suffice, none is ended: the waiting body's own client may have used up its share. A
   * client without an accepted token never ends a body of a client with one.
   */
  #makeRoom({ body, bytes }: Waiter): void {
    const part = this.#partOf(body, bytes);
    const ended: HeldBody[] = [];
    for (const slow of this.#findSlow(part)) {
      if (this.#hasRoom(body, bytes)) break;
      if (part.ofNetwork(slow.owner) <= part.ofNetwork(body.owner)) continue;
      if (hasAcceptedToken(slow) && !hasAcceptedToken(body)) continue;
      part.count(slow.owner, -slow.held);
      ended.push(slow);
    }
    const isEnough = this.#hasRoom(body, bytes);
    for (const { owner, held } of ended) part.count(owner, held);
    if (isEnough) for (const slow of ended) slow.fail(tooSlow());
  }

  /** Returns the bodies that are too slow while other bodies wait, the slowest first. */
  #findSlow(part: ShareUsage): readonly HeldBody[] {
    return [...this.coming]
      .filter((body) => body.held > 0 && this.#partOf(body, body.held) === part)
      .map((body) => ({ body, recent: body.recentBytes() ?? Infinity }))
      .filter(({ recent }) => recent < LEAST_AWAITED_BYTES)
      .toSorted((one, other) => one.recent - other.recent)
      .map(({ body }) => body);
  }
}
