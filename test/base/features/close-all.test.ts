/** Closing a list: one that fails does not keep others open. */
import { expect, test } from "@jest/globals";
import { closeAll } from "../../../src/base/features/close-all.ts";

const NAMES = ["first", "second", "third"];

test.each(NAMES)("closes the others, the last one first, if the %s can't be closed", async (bad) => {
  const closed: string[] = [];
  const closers = NAMES.map((name) => async (): Promise<void> => {
    if (name === bad) throw new Error(`${name} can't be closed`);
    closed.push(name);
  });
  await expect(closeAll(closers)).rejects.toThrow(`${bad} can't be closed`);
  expect(closed).toEqual(NAMES.filter((name) => name !== bad).toReversed());
});

test("throws the first error of several", async () => {
  const fail = (name: string) => (): never => {
    throw new Error(name);
  };
  await expect(closeAll([fail("opened first"), fail("opened last")])).rejects.toThrow("opened last");
});
