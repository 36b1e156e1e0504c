/** How many rows of summaries clients lose when there are too many. */
import { expect, test } from "@jest/globals";
import { array, assert, integer, property } from "fast-check";
import { cutLargest } from "../../../src/audit/usage/usage.ts";

const clientsOf = (rows: readonly number[]) =>
  rows.toSorted((one, other) => other - one).map((count, n) => ({ client: `c${n}`, rows: count }));

test.each([
  [[100, 10, 1], 20, [20]],
  [[100, 90, 1], 30, [20, 10]],
  [[10, 10, 10], 3, [1, 1, 1]],
  [[10, 10, 10], 2, [1, 1]],
  [[10, 5], 100, [10, 5]],
  [[], 5, []],
])("of clients with %j rows, %i are deleted: %j", (rows, excess, cuts) => {
  expect(cutLargest(clientsOf(rows), excess).map((cut) => cut.rows)).toEqual(cuts);
});

test("exactly as many as asked are deleted, and none of a client with fewer rows than others have left", () => {
  const counts = array(integer({ min: 1, max: 50 }), { maxLength: 20 });
  assert(
    property(counts, integer({ min: 1, max: 200 }), (rows, excess) => {
      const clients = clientsOf(rows);
      const cuts = new Map(cutLargest(clients, excess).map((cut) => [cut.client, cut.rows]));
      const sum = (all: Iterable<number>): number => [...all].reduce((one, other) => one + other, 0);
      expect(sum(cuts.values())).toBe(Math.min(sum(rows), excess));
      const left = clients.map(({ client, rows: all }) => ({
        isCut: cuts.has(client),
        rows: all - (cuts.get(client) ?? 0),
      }));
      const most = Math.max(0, ...left.map((each) => each.rows));
      // Rows are whole: one more or less.
      expect(left.filter((each) => each.isCut && each.rows < most - 1)).toEqual([]);
    }),
  );
});
