import { expect, test } from "@jest/globals";
import { WriteFence } from "../../../src/shadow/write-fence.ts";

const LAG_MS = 2000;

function createFence(): { fence: WriteFence; pass: (ms: number) => void } {
  let now = 1_000_000;
  return {
    fence: new WriteFence(
      () => LAG_MS,
      () => now,
    ),
    pass: (ms) => void (now += ms),
  };
}

test("nothing is compared while a write of the same client is in flight", () => {
  const { fence } = createFence();
  fence.begin("shop");
  expect(fence.enter("shop")).toBeUndefined();
  expect(fence.enter("billing")).toBeDefined();
});

test("nothing is compared until the other service shows the last write", () => {
  const { fence, pass } = createFence();
  const end = fence.begin("shop");
  pass(5000);
  end();
  pass(LAG_MS - 1);
  expect(fence.enter("shop")).toBeUndefined();
  pass(1);
  expect(fence.enter("shop")).toBeDefined();
});

test("of two writes at the same time, the later end counts", () => {
  const { fence, pass } = createFence();
  const [endFirst, endSecond] = [fence.begin("shop"), fence.begin("shop")];
  endFirst();
  pass(LAG_MS);
  expect(fence.enter("shop")).toBeUndefined();
  endSecond();
  pass(LAG_MS);
  expect(fence.enter("shop")).toBeDefined();
});

test("a comparison is void if a write began after it, also one that has ended meanwhile", () => {
  const { fence, pass } = createFence();
  const isStillValid = fence.enter("shop");
  expect(isStillValid?.()).toBe(true);
  fence.begin("billing")();
  expect(isStillValid?.()).toBe(true);
  fence.begin("shop")();
  pass(LAG_MS);
  expect(isStillValid?.()).toBe(false);
});
