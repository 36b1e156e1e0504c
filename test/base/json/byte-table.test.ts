import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { ByteMap } from "../../../src/base/json/byte-map.ts";

/** Few letters, so that keys are equal, share prefixes, or are empty. */
const key = fc.string({ unit: fc.constantFrom("a", "b", "é", '"'), maxLength: 6 });

test("a byte table finds the same keys as a Map of the texts, at any offset", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, fc.string())),
      fc.array(key),
      fc.string(),
      fc.string(),
      (entries, asked, before, after) => {
        const [table, map] = [new ByteMap(entries), new Map(entries)];
        expect(table.size).toBe(map.size);
        for (const name of [...map.keys(), ...asked]) {
          const start = Buffer.byteLength(before);
          const bytes = Buffer.from(before + name + after);
          expect(table.find(bytes, start, start + Buffer.byteLength(name))).toBe(map.get(name));
        }
      },
    ),
  );
});

test("a byte table grows with its entries, and is empty once it is cleared", () => {
  const table = new ByteMap<Buffer>();
  const names = Array.from({ length: 1000 }, (_, index) => Buffer.from(`name-${index}`));
  for (const name of names) table.set(name, name);
  expect(table.size).toBe(1000);
  expect(names.every((name) => table.find(name, 0, name.length) === name)).toBe(true);
  table.clear();
  expect(table.size).toBe(0);
  expect(names.some((name) => table.find(name, 0, name.length) !== undefined)).toBe(false);
});
