import { expect, test } from "@jest/globals";
import { createRateLimits } from "../../src/limits/rate-limits.ts";

const rate = { points: 5, seconds: 100 };

test("L33 keys are bounded in number: a flood of made-up tokens can't fill the memory", async () => {
  const limits = createRateLimits(rate, rate, { keys: 1000 });
  for (let key = 0; key < 5000; key += 1) await limits.take(`key ${key}`, true);
  expect(limits.size).toBe(2000);
});

test("a key that is still counted keeps its count, also while others come and go", async () => {
  const limits = createRateLimits(rate, rate, { keys: 10 });
  for (let round = 0; round < 5; round += 1) {
    expect(await limits.take("mine", false)).toMatchObject({ allowed: true, remaining: 4 - round });
    for (let key = 0; key < 9; key += 1) await limits.take(`key ${round} ${key}`, false);
  }
  expect(await limits.take("mine", false)).toMatchObject({ allowed: false, remaining: 0 });
});

test("a create that the general limit refuses does not use up the limit of creates", async () => {
  const limits = createRateLimits({ points: 1, seconds: 100 }, rate);
  await limits.take("mine", false);
  for (let round = 0; round < 9; round += 1)
    expect(await limits.take("mine", true)).toMatchObject({ allowed: false, limit: 1 });
  expect(limits.size).toBe(1);
});
