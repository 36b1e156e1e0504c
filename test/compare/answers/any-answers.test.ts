import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { comparePair, confirm } from "../../../src/compare/answers/judge.ts";
import { distinctKey } from "../../../src/compare/answers/distinct-key.ts";
import { VolatileFields } from "../../../src/compare/answers/volatile-fields.ts";
import { answer, differencesOf, rulesFor } from "./answers.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const rules = rulesFor(pack, "GET /vm/instances", "/x?page=2");
const request = { method: "GET", path: "/x?page=2", filter: null };
const body = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.record({ vms: fc.array(fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()))) }),
);

test("an answer never differs from itself, also with its members in another order", () => {
  const reverse = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reverse);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, reverse(member)]),
    );
  };
  fc.assert(
    fc.property(body, (value) => {
      expect(differencesOf(answer(value), answer(reverse(value)), rules)).toEqual([]);
    }),
  );
});

test("any two answers differ or are equal, on both sides alike, and nothing is thrown", () => {
  fc.assert(
    fc.property(body, body, (one, other) => {
      const [there, back] = [
        differencesOf(answer(one), answer(other), rules),
        differencesOf(answer(other), answer(one), rules),
      ];
      expect(there.length > 0).toBe(back.length > 0);
      const volatile = new VolatileFields();
      const first = { old: answer(one), new: answer(other) };
      expect(["equal", "differs"]).toContain(comparePair(first, rules, volatile.seenBy("a")).result);
      expect(["equal", "unstable"]).toContain(confirm(first, first, rules, volatile.seenBy("a")).result);
      expect(distinctKey(rules, request, first.old, volatile)).toMatch(/^[\w-]{11}$/);
      expect(JSON.parse(JSON.stringify(volatile))).toEqual(new VolatileFields(volatile.toJSON()).toJSON());
    }),
  );
});

test("rows in another order are the same case", () => {
  const rows = fc.uniqueArray(fc.record({ id: fc.integer(), label: fc.jsonValue() }), {
    selector: ({ id }) => id,
  });
  fc.assert(
    fc.property(rows, (vms) => {
      const [one, other] = [answer({ vms }), answer({ vms: vms.toReversed() })];
      expect(differencesOf(one, other, rules)).toEqual([]);
      const volatile = new VolatileFields();
      expect(distinctKey(rules, request, one, volatile)).toBe(distinctKey(rules, request, other, volatile));
    }),
  );
});
