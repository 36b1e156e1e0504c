/**
 * The policy for bodies in transit, in all lanes: how much memory they use, and how slow they may be. No client waits
 * long for a slow client. The scarcer a resource is, the faster a body must be:
 *
 * | The body uses | Limit | While other bodies wait for it | Code |
 * |---|---|---|---|
 * | Memory, of a body that is read | a budget, and a share of each client | the slowest bodies end | `body-room.ts` |
 * | A connection of the client, of a body that is read | a minimum rate and a deadline | | `body-pace.ts` |
 * | A connection to the upstream, of a forwarded stream | a share of each client | the slowest streams end | `slow-streams.ts` |
 * | A connection of the client, after its response | a short time | | `unread-rest.ts` |
 *
 * A forwarded stream is as fast as its slower end, because each end is only read as fast as the other end accepts data.
 */

const MB = 1024 * 1024;

/** The memory of a process for bodies: this many bodies of the largest size, but at most this many bytes. */
export const BODY_MEMORY = { bodies: 32, bytes: 128 * MB } as const;

/** The separate memory for small bodies, such as forms, so that they do not wait for large ones. */
export const SMALL_BODIES = { bodies: 64, bytes: 64 * 1024 } as const;

/** Maximum number of bodies that wait for memory, each with a piece in memory, and their maximum waiting time. */
export const WAITING_BODIES = { bodies: 256, ms: 1500 } as const;

/** Milliseconds between two checks of the rate of bodies. */
export const RATE_CHECK_MS = 1000;

/** The minimum rate of a body, even if no body waits. */
export interface Patience {
  /** The length in seconds of each interval in which a body must reach the minimum rate. */
  readonly seconds: number;
  readonly bytesPerSecond: number;
  readonly deadlineMs: number;
}

/** The time limits for a client whose token v4 has accepted, and for all other clients. */
export const PATIENCE: Readonly<Record<"known" | "unknown", Patience>> = {
  known: { seconds: 10, bytesPerSecond: 4096, deadlineMs: 240_000 },
  unknown: { seconds: 5, bytesPerSecond: 16_384, deadlineMs: 20_000 },
};

/** Minimum number of bytes of a body in the last one or two seconds, while another body waits for memory. */
export const LEAST_AWAITED_BYTES = 65_536;

/** Minimum bytes per second of a stream while clients wait for its connection. It doubles with each check. */
export const LEAST_AWAITED_STREAM_RATE = 512;

/**
 * Maximum time in milliseconds, and maximum declared length, for discarding the unread rest of a body after the
 * response.
 */
export const UNREAD_REST = { ms: 2000, bytes: 65_536 } as const;
