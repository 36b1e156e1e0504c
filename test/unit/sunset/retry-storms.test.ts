import { expect, test } from "@jest/globals";
import { watchStorms } from "../../../src/sunset/retry-storms.ts";

const MINUTE_MS = 60_000;

/** The number of the request, within one minute, that becomes a storm. */
function stormAt(usualPerMinute: number, replicas = 1): number | undefined {
  const watch = watchStorms(() => replicas);
  for (let request = 1; request <= 2000; request += 1)
    if (watch.count("billing", usualPerMinute, 5 * MINUTE_MS)) return request;
  return undefined;
}

test("more than 100 requests of a minute are a storm of a client that usually sends few", () => {
  expect(stormAt(0)).toBe(101);
  expect(stormAt(10)).toBe(101);
});

test("more than ten times its usual requests are a storm of a client that sends many", () => {
  expect(stormAt(50)).toBe(501);
});

test("each of several replicas sees its share of a storm", () => {
  expect(stormAt(50, 2)).toBe(251);
});

test("requests of different minutes and clients are no storm together", () => {
  const watch = watchStorms(() => 1);
  const storms: boolean[] = [];
  for (let request = 0; request < 300; request += 1)
    storms.push(
      watch.count("billing", 0, request * MINUTE_MS),
      watch.count(`client ${request}`, 0, 5 * MINUTE_MS),
    );
  expect(storms).not.toContain(true);
});
