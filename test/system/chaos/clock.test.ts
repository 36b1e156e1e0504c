/** A system clock that is set by hours while a process serves does not change durations. */
import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "../e2e/program.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { acceptGoodTokens, neverRespond, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { describeWith } from "../../support/services.ts";
import { createSettableClock, type SettableClock } from "../../support/set-clock.ts";
import { waitForReadiness } from "./admin-client.ts";

const describe = await describeWith("faketime");
const HOURS = 3 * 3600;
const LONG = 60_000;
/** Seconds of a window of the limits. */
const WINDOW = 3;

let v4: FakeV4;
let clock: SettableClock;
let gateway: Serving;

async function start(): Promise<void> {
  v4 = await startFakeV4();
  const folder = temporaryFolder();
  clock = createSettableClock(folder);
  gateway = await serve(folder, {
    env: {
      ...clock.env,
      UPSTREAM_URL: v4.url,
      UPSTREAM_TIMEOUT_MS: "4000",
      RATE_LIMIT: `20/${WINDOW}`,
      TOKEN_NEGATIVE_TTL_SECONDS: "1",
    },
  });
}

const ask = (token: string): Promise<Response> =>
  fetch(`${gateway.url}/v4/vm/instances`, { headers: { authorization: `token ${token}` } });

const statusOf = async (token: string): Promise<number> => (await ask(token)).status;

interface Recorded {
  readonly time: string;
  readonly timings: { readonly total: number };
}

async function records(): Promise<Recorded[]> {
  const page = await fetch(`${gateway.admin}/api/audit`);
  return ((await page.json()) as { records: Recorded[] }).records;
}

describe.each([
  ["forward", HOURS],
  ["back", -HOURS],
])("a system clock that is set %s by three hours", (_way, seconds) => {
  beforeAll(start, LONG);
  beforeEach(() => {
    clock.set(0);
    v4.respondWith(acceptGoodTokens);
  });

  test(
    "does not extend a rate limit beyond its window, nor the reported one",
    async () => {
      while ((await statusOf("good-limited")) !== 420);
      clock.set(seconds);
      const reported: Headers[] = [];
      for (
        let response = await ask("good-limited");
        response.status === 420;
        response = await ask("good-limited")
      )
        reported.push(response.headers);
      for (const headers of reported) {
        expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(WINDOW);
        const now = Date.now() / 1000 + seconds;
        expect(Number(headers.get("x-ratelimit-reset"))).toBeLessThan(now + WINDOW + 1);
      }
      while ((await statusOf("good-limited")) !== 420);
    },
    LONG,
  );

  test(
    "does not delay the check of a rejected token",
    async () => {
      expect(await statusOf("bad")).toBe(401);
      clock.set(seconds);
      await waitFor(async () => {
        expect([401, 420]).toContain(await statusOf("bad"));
        return v4.calls.length > 1;
      });
    },
    LONG,
  );

  test(
    "times out no upstream request early or late",
    async () => {
      let respond = (): void => {};
      v4.respondWith(
        (call, response) => void (respond = () => void acceptGoodTokens(call, response)),
        neverRespond,
      );
      const early = statusOf("good-slow");
      await waitFor(() => v4.calls.length > 0);
      clock.set(seconds);
      expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
      respond();
      expect(await early).toBe(200);

      const late = statusOf("good-later");
      await waitFor(() => v4.calls.length === 2);
      clock.set(0);
      expect(await late).toBe(500);
    },
    LONG,
  );

  test(
    "gives records its time, and does not affect durations",
    async () => {
      let respond = (): void => {};
      v4.respondWith(
        (call, response) => void (respond = () => void acceptGoodTokens(call, response)),
        acceptGoodTokens,
      );
      const during = statusOf("good-recorded");
      await waitFor(() => v4.calls.length === 1);
      clock.set(seconds);
      respond();
      expect(await during).toBe(200);
      expect(await statusOf("good-recorded")).toBe(200);
      const displayed = Date.now() + seconds * 1000;
      const isShown = ({ time }: Recorded): boolean => Math.abs(Date.parse(time) - displayed) < LONG;
      await waitFor(async () => (await records()).some(isShown));
      const longest = Math.max(...(await records()).map(({ timings }) => timings.total));
      expect(longest).toBeLessThan(LONG);
    },
    LONG,
  );

  test(
    "ends no process, and delays no shutdown",
    async () => {
      clock.set(seconds);
      expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
      gateway.signal("SIGTERM");
      expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
    },
    LONG,
  );
});
