import { expect, test } from "@jest/globals";
import { watchStorms } from "../../../src/migration/plan/retry-storms.ts";

const MINUTE_MS = 60_000;

/** The number of the request, within one minute, that becomes a storm, and how often the usual rate was read. */
async function stormAt(usualPerMinute: number | undefined) {
  const watch = watchStorms();
  let reads = 0;
  async function readUsual(): Promise<number | undefined> {
    reads += 1;
    return usualPerMinute;
  }
  for (let request = 1; request <= 2000; request += 1)
    if (await watch.count("billing", 5 * MINUTE_MS, readUsual)) return { request, reads };
  return { request: undefined, reads };
}

test("more than 100 requests of a minute are a storm of a client that usually sends few", async () => {
  expect(await stormAt(0.1)).toEqual({ request: 101, reads: 1 });
  expect(await stormAt(10)).toEqual({ request: 101, reads: 1 });
});

test("more than ten times its usual requests are a storm of a client that sends many", async () => {
  expect(await stormAt(50)).toEqual({ request: 501, reads: 1 });
});

test("requests of a client that has no usual ones are never a storm", async () => {
  expect(await stormAt(undefined)).toEqual({ request: undefined, reads: 1 });
});

test("a storm is noticed once, however long the usual rate takes to read", async () => {
  const watch = watchStorms();
  const { promise, resolve } = Promise.withResolvers<number>();
  const counts = Array.from({ length: 300 }, () => watch.count("billing", 0, () => promise));
  resolve(1);
  expect((await Promise.all(counts)).filter(Boolean)).toHaveLength(1);
});

test("requests of different minutes and clients are no storm together, and nothing is read", async () => {
  const watch = watchStorms();
  const readUsual = () => Promise.reject(new Error("nothing is read"));
  for (let request = 0; request < 300; request += 1) {
    expect(await watch.count("billing", request * MINUTE_MS, readUsual)).toBe(false);
    expect(await watch.count(`client ${request}`, 5 * MINUTE_MS, readUsual)).toBe(false);
  }
});
