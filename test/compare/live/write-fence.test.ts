import { expect, test } from "@jest/globals";
import { WriteFence } from "../../../src/compare/live/write-fence.ts";

const LAG_MS = 2000;

interface Setup {
  readonly fence: WriteFence;
  readonly pass: (ms: number) => void;
  readonly begin: (name: string) => () => void;
  readonly isQuiet: (name: string) => boolean;
  /** Writes for which there was no room. */
  readonly full: () => number;
}

function createFence(lag = LAG_MS): Setup {
  let now = 1_000_000;
  let full = 0;
  const fence = new WriteFence({
    lagMs: () => lag,
    onFull: () => void (full += 1),
    clock: () => now,
  });
  return {
    fence,
    pass: (ms) => void (now += ms),
    begin: (name) => fence.begin([name], name),
    isQuiet: (name) => fence.isQuiet([name]),
    full: () => full,
  };
}

test("nothing is compared while a write of the same client is in flight", () => {
  const { fence, begin } = createFence();
  begin("shop");
  expect(fence.enter(["shop"])).toBeUndefined();
  expect(fence.enter(["billing"])).toBeDefined();
});

test("nothing is compared until the other service shows the last write", () => {
  const { begin, pass, isQuiet } = createFence();
  const end = begin("shop");
  pass(5000);
  end();
  pass(LAG_MS - 1);
  expect(isQuiet("shop")).toBe(false);
  pass(1);
  expect(isQuiet("shop")).toBe(true);
});

test("the later end is used for two writes at the same time", () => {
  const { begin, pass, isQuiet } = createFence();
  const [endFirst, endSecond] = [begin("shop"), begin("shop")];
  endFirst();
  pass(LAG_MS);
  expect(isQuiet("shop")).toBe(false);
  endSecond();
  pass(LAG_MS);
  expect(isQuiet("shop")).toBe(true);
});

test("a comparison is void if a write began after it, also one that has ended meanwhile", () => {
  const { fence, begin, pass } = createFence();
  const reading = fence.enter(["shop"]);
  expect(reading?.isValid()).toBe(true);
  begin("billing")();
  expect(reading?.isValid()).toBe(true);
  begin("shop")();
  pass(LAG_MS);
  expect(reading?.isValid()).toBe(false);
});

test("a client is the same by each of its names", () => {
  const { fence } = createFence();
  const reading = fence.enter(["shop", "token 1"]);
  const end = fence.begin(["shop", "token 2"], "shop");
  expect(reading?.isValid()).toBe(false);
  expect(fence.isQuiet(["shop", "token 3"])).toBe(false);
  end();
});

test("nothing is remembered of writes and readings that have ended, once both services show them", () => {
  const { fence, begin, pass } = createFence();
  const reading = fence.enter(["shop"]);
  const end = begin("billing");
  reading?.leave();
  end();
  pass(LAG_MS);
  begin("another")();
  expect(fence.size).toBe(1);
  const withoutLag = createFence(0);
  withoutLag.begin("shop")();
  expect(withoutLag.fence.size).toBe(0);
});

test.each([201, 20_100])(
  "%i writes of one customer with as many tokens end no comparison of others",
  (writes) => {
    const { fence, begin, pass, isQuiet, full } = createFence();
    const reading = fence.enter(["shop"]);
    const end = begin("billing");
    for (let token = 0; token < writes; token += 1) fence.begin([`token ${token}`], "network")();
    expect(reading?.isValid()).toBe(true);
    expect(isQuiet("billing")).toBe(false);
    end();
    expect(isQuiet("billing")).toBe(false);
    expect(isQuiet("reports")).toBe(true);
    expect(fence.size).toBeLessThanOrEqual(2002);
    expect(full()).toBe(Math.max(0, writes - 2000));
    pass(LAG_MS);
    expect(isQuiet("billing")).toBe(true);
    fence.begin(["later"], "network")();
    expect(fence.size).toBe(2);
  },
);
