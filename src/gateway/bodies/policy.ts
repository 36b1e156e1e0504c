/**
 * The policy for bodies on their way, in all lanes: how much of them is in memory, and how slow they may be. Nobody waits for a
 * slow client for long, and the fewer resources there are, the faster a body must be:
 *
 * | What a body holds | Limit | While others wait for it | Code |
 * |---|---|---|---|
 * | Memory, of a body that is read | a budget, and a share of each client | the slowest bodies end | `body-room.ts` |
 * | A connection of the client, of a body that is read | a least rate and a deadline | | `receive-body.ts` |
 * | A connection to the upstream, of a forwarded stream | a share of each client | the slowest streams end | `slow-streams.ts` |
 * | A connection of the client, after its response | a short time | | `unread-rest.ts` |
 *
 * A stream that passes is as fast as its slower end: each end is read only as far as the other takes it.
 */

const MB = 1024 * 1024;

/** The memory of a process for bodies: of this many of the largest ones, as far as that is not above the bytes. */
export const BODY_MEMORY = { bodies: 32, bytes: 128 * MB } as const;

/** Small bodies, such as forms, have a part of their own: who sends little does not wait for who sends much. */
export const SMALL_BODIES = { bodies: 64, bytes: 64 * 1024 } as const;

/** Bodies that wait for memory at once, each of which has a piece in memory, and how long they wait. */
export const WAITING_BODIES = { bodies: 256, ms: 1500 } as const;

/** How often the rate of bodies is checked, in milliseconds. */
export const RATE_CHECK_MS = 1000;

/** How slowly a body may come, whoever waits. */
export interface Patience {
  /** In each span of this many seconds it must come at this rate. */
  readonly seconds: number;
  readonly bytesPerSecond: number;
  readonly deadlineMs: number;
}

/** The patience with a client whose token v4 has accepted, and with all others. */
export const PATIENCE: Readonly<Record<"known" | "unknown", Patience>> = {
  known: { seconds: 10, bytesPerSecond: 4096, deadlineMs: 240_000 },
  unknown: { seconds: 5, bytesPerSecond: 16_384, deadlineMs: 20_000 },
};

/** Bytes that a body must have sent in the last second or two while somebody waits for its memory. */
export const LEAST_AWAITED_BYTES = 65_536;

/** Bytes per second that a stream must move while others wait for its connection, at first: with each check it is twice as much. */
export const LEAST_AWAITED_STREAM_RATE = 512;

/**
 * How long the rest of a body is received and discarded whose response has ended, in milliseconds; and up to which declared length
 * that is done for the next request on the connection.
 */
export const UNREAD_REST = { ms: 2000, bytes: 65_536 } as const;
