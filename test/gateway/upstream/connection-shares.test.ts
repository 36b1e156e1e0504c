/** The connections to the upstream, shared out between clients: when they count as exhausted. */
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { ConnectionShares } from "../../../src/gateway/upstream/connection-shares.ts";
import type { ShareClient } from "../../../src/gateway/upstream/share-usage.ts";

const SIZE = 64;

let shares: ConnectionShares;
beforeEach(() => {
  jest.useFakeTimers();
  shares = new ConnectionShares({ size: SIZE, maxWaitMs: 10_000 });
});
afterEach(() => void jest.useRealTimers());

const clientIn = (network: number): ShareClient => ({
  token: `token-${network}`,
  networks: [`192.0.2.${network}`],
  isKnown: true,
});

/** Takes connections for clients of so many networks in turn, until one must wait. */
function takeAll(networks: number): void {
  const { signal } = new AbortController();
  for (let index = 0; index < 2 * SIZE; index += 1)
    if (shares.acquire(clientIn(index % networks), signal) instanceof Promise) return;
  throw new Error("nobody waits");
}

test.each([10, 64])(
  "are exhausted if clients of %i networks have all, and one waits for a second",
  (networks) => {
    takeAll(networks);
    expect(shares.isExhausted()).toBe(false);
    jest.advanceTimersByTime(1000);
    expect(shares.isExhausted()).toBe(true);
  },
);

test("connections are not exhausted if a client waits for its own share", () => {
  takeAll(1);
  jest.advanceTimersByTime(1000);
  expect(shares.isExhausted()).toBe(false);
});
