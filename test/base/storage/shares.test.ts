import { describe, expect, test } from "@jest/globals";
import { Shares } from "../../../src/base/index.ts";

describe("shares", () => {
  test("count what each owner has taken, and what all have", () => {
    const shares = new Shares();
    shares.take("a", 3);
    shares.take("b");
    shares.giveBack("a", 2);
    expect([shares.of("a"), shares.of("b"), shares.of("c"), shares.all, shares.owners]).toEqual([
      1, 1, 0, 2, 2,
    ]);
  });

  test("remove an owner that has returned its whole amount", () => {
    const shares = new Shares();
    shares.take("a", 3);
    shares.giveBack("a", 3);
    expect([shares.owners, shares.all, shares.entries()]).toEqual([0, 0, []]);
  });

  test("refuse what is above the limit of one owner, or of all", () => {
    const shares = new Shares();
    const limits = { all: 3, each: 2 };
    expect(["a", "a", "a", "b", "c"].map((owner) => shares.tryTake(owner, limits))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    expect(shares.hasRoom("c", { all: 5, each: 2 }, 2)).toBe(true);
    expect(shares.hasRoom("b", { all: 5, each: 2 }, 2)).toBe(false);
  });

  test("name the largest owners first", () => {
    const shares = new Shares();
    for (const [owner, amount] of [
      ["a", 1],
      ["b", 5],
      ["c", 3],
    ] as const)
      shares.take(owner, amount);
    expect(shares.largest(2)).toEqual([
      ["b", 5],
      ["c", 3],
    ]);
  });

  test("are empty after they were cleared", () => {
    const shares = new Shares();
    shares.take("a", 1);
    shares.clear();
    expect([shares.all, shares.owners]).toEqual([0, 0]);
  });
});
