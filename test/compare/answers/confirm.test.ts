import { describe, expect, test } from "@jest/globals";
import type { AnswerPair, Difference } from "../../../src/compare/answers/comparison.ts";
import { comparePair, confirm, recordOldPair } from "../../../src/compare/answers/judge.ts";
import { VolatileFields, type ClientView } from "../../../src/compare/answers/volatile-fields.ts";
import { provenBy } from "../../../src/gateway/auth/proven-by.ts";
import { answer, rulesFor } from "./answers.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const rules = rulesFor(pack, "GET /vm/instances/:id");
const { name } = rules.route;

const pair = (old: unknown, other: unknown): AnswerPair => ({ old: answer(old), new: answer(other) });

const createView = (): ClientView => new VolatileFields().seenBy("a");

/** A service that was asked twice often enough, and never differed from itself. */
function createKnown(): ClientView {
  const volatile = createView();
  for (let count = 0; count < 60; count += 1) volatile.recordEqual(name);
  return volatile;
}

/** What two clients have seen of a service whose field has another value each time. */
function learnVolatile(
  field: string,
  valueOf: (time: number) => unknown,
  pairs = 60,
  clients: readonly string[] = ["a", "b"],
): VolatileFields {
  const volatile = new VolatileFields();
  for (let time = 0; time < pairs; time += 1)
    for (const client of clients)
      recordOldPair(
        answer({ [field]: valueOf(time) }),
        answer({ [field]: valueOf(time + 2) }),
        rules,
        volatile.seenBy(client),
      );
  return volatile;
}

const createVolatile = (...parts: Parameters<typeof learnVolatile>): ClientView =>
  learnVolatile(...parts).seenBy("a");

/** The result of two pairs, with the differences as `field kind`. */
function decide(
  volatile: ClientView,
  first: AnswerPair,
  second: AnswerPair,
  isAccepted?: typeof rules.isAccepted,
): string {
  const all = isAccepted ? { ...rules, isAccepted } : rules;
  const { result, differences, accepted = [] } = confirm(first, second, all, volatile);
  return [result, ...[...differences, ...accepted].map(({ field, kind }) => `${field} ${kind}`)].join(" ");
}

describe("a first pair", () => {
  test("is equal, differs, or can't be compared", () => {
    const volatile = createKnown();
    expect(comparePair(pair({ a: 1 }, { a: 1 }), rules, volatile)).toMatchObject({ result: "equal" });
    expect(comparePair(pair({ a: 1 }, { a: 2 }), rules, volatile)).toMatchObject({ result: "differs" });
    expect(comparePair({ old: answer({}, 500), new: answer({}) }, rules, volatile)).toMatchObject({
      result: "not_comparable",
      reason: "failed",
    });
  });
});

describe("a first pair that differs", () => {
  test("is accepted at once if the pack accepts all differences", () => {
    const isAccepted = ({ field }: Pick<Difference, "field">): boolean => field === "a";
    const look = (other: object) =>
      comparePair(pair({ a: 1, b: 1 }, other), { ...rules, isAccepted }, createKnown()).result;
    expect(look({ a: 2, b: 1 })).toBe("accepted");
    expect(look({ a: 2, b: 2 })).toBe("differs");
  });

  test("is unstable at once if the old service often lacks the same rows", () => {
    const rows = (count: number) => ({ rows: Array.from({ length: count }, (_, id) => ({ id })) });
    const all = new VolatileFields();
    for (let count = 0; count < 60; count += 1)
      for (const client of ["a", "b"])
        recordOldPair(answer(rows(3)), answer(rows(2)), rules, all.seenBy(client));
    const volatile = all.seenBy("a");
    expect(comparePair(pair(rows(3), rows(2)), rules, volatile).result).toBe("unstable");
    const beside = pair({ ...rows(3), a: 1 }, { ...rows(2), a: null });
    expect(comparePair(beside, rules, volatile).result).toBe("differs");
    expect(decide(volatile, beside, beside)).toBe("different a null");
  });
});

describe("a difference", () => {
  test("that is found again is different", () => {
    expect(decide(createKnown(), pair({ a: "on" }, { a: "up" }), pair({ a: "on" }, { a: "up" }))).toBe(
      "different a value",
    );
  });

  test("that is found again with other values on the new side is different", () => {
    expect(decide(createKnown(), pair({ a: 1 }, { a: 2 }), pair({ a: 1 }, { a: 3 }))).toBe(
      "different a value",
    );
  });

  test("that is not found again is unstable", () => {
    expect(decide(createKnown(), pair({ a: 1 }, { a: 2 }), pair({ a: 1 }, { a: 1 }))).toBe(
      "unstable a value",
    );
  });

  test("in what the old service differs from itself is unstable", () => {
    expect(decide(createKnown(), pair({ a: 1 }, { a: 2 }), pair({ a: 3 }, { a: 4 }))).toBe(
      "unstable a value",
    );
  });

  test("beside one in which the old service differs from itself is different", () => {
    const first = pair({ a: 1, b: "x" }, { a: 2, b: null });
    const second = pair({ a: 3, b: "x" }, { a: 4, b: null });
    expect(decide(createKnown(), first, second)).toBe("different b null");
  });

  test("that the pack accepts is accepted, unless there is another one", () => {
    const isAccepted = ({ field }: Pick<Difference, "field">): boolean => field === "a";
    const one = pair({ a: 1, b: 1 }, { a: 2, b: 1 });
    const two = pair({ a: 1, b: 1 }, { a: 2, b: 2 });
    expect(decide(createKnown(), one, one, isAccepted)).toBe("accepted a value");
    expect(decide(createKnown(), two, two, isAccepted)).toBe("different b value");
  });

  test("can't be confirmed where the second pair can't be compared", () => {
    const failed = { old: answer({}, 502), new: answer({}) };
    expect(confirm(pair({ a: 1 }, { a: 2 }), failed, rules, createKnown())).toEqual({
      result: "not_comparable",
      reason: "failed",
      differences: [],
    });
  });

  test("of a status is different", () => {
    const both = { old: answer({}, 404), new: answer({}, 400) };
    expect(decide(createKnown(), both, both)).toBe("different status status");
  });
});

describe("before the old service is known", () => {
  const both = pair({ a: 1 }, { a: 2 });

  test("a difference is unstable for the first 20 pairs, and then different", () => {
    const volatile = createView();
    const results = Array.from({ length: 22 }, () => decide(volatile, both, both));
    expect(results.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => "unstable a value"));
    expect(results.slice(20)).toEqual(["different a value", "different a value"]);
  });

  test("a caller may believe earlier", () => {
    expect(decide(new VolatileFields({}, 0).seenBy("a"), both, both)).toBe("different a value");
  });

  test("it is to be asked twice, and later once in a hundred", () => {
    const volatile = createView();
    expect(volatile.needsPair(name, 0.5)).toBe(true);
    expect(createKnown().needsPair(name, 0.5)).toBe(false);
    expect(createKnown().needsPair(name, 0.005)).toBe(true);
  });

  test.each([1, 2, 5])(
    "a field that is rounded up or down at random is never different: %i clients",
    (clients) => {
      const all = new VolatileFields();
      const results = new Set<string>();
      let state = 1;
      const random = (): number => ((state = (state * 48_271) % 2_147_483_647) & 1024 ? 1 : 0);
      for (let count = 0; count < 2000; count += 1) {
        const volatile = all.seenBy(`client ${count % clients}`);
        const first = pair({ a: random() }, { a: 0 });
        const look = comparePair(first, rules, volatile);
        if (look.result === "differs") results.add(decide(volatile, first, pair({ a: random() }, { a: 0 })));
        else if (volatile.needsPair(name, 0.5))
          recordOldPair(first.old, answer({ a: random() }), rules, volatile);
      }
      expect([...results].filter((result) => result.startsWith("different"))).toEqual([]);
    },
  );
});

describe("a volatile field", () => {
  const time = (seconds: number, zone = ""): string =>
    `${new Date(1_800_000_000_000 + seconds * 1000).toISOString().slice(0, 19)}${zone}`;

  test("is one that differs from itself in more than 5 % of at least 50 pairs", () => {
    expect(learnVolatile("at", time, 49).isVolatile(name, "at")).toBe(false);
    expect(learnVolatile("at", time, 50).isVolatile(name, "at")).toBe(true);
    const rare = learnVolatile("at", (at) => (at === 20 ? 1 : 0), 100);
    expect(rare.isVolatile(name, "at")).toBe(false);
  });

  test.each([2, 10])("is none that one token shows from %i networks", (networks) => {
    const from = Array.from({ length: networks }, (_, n) => provenBy(undefined, "token", `203.0.${n}.1`));
    const other = provenBy(undefined, "another token", "198.51.100.1");
    expect(learnVolatile("at", time, 60, from).isVolatile(name, "at")).toBe(false);
    expect(learnVolatile("at", time, 60, [...from, other]).isVolatile(name, "at")).toBe(true);
  });

  test("is not different in the pair that makes it volatile", () => {
    const both = pair({ at: 1 }, { at: 0 });
    expect(
      decide(
        createVolatile("at", (at) => at % 3, 49),
        both,
        both,
      ),
    ).toBe("unstable at value");
  });

  test("is equal within the range that the old service shows against itself", () => {
    const look = comparePair(pair({ at: time(100) }, { at: time(101) }), rules, createVolatile("at", time));
    expect(look).toMatchObject({ result: "equal" });
  });

  test.each([
    ["a wrong time zone", time(3600), time(3602), "value"],
    ["half an hour", time(1800), time(1802), "value"],
    ["a zone suffix", time(0, "Z"), time(2, "Z"), "format"],
    ["fractions", time(0, ".000"), time(2, ".000"), "format"],
    ["null", null, null, "null"],
    ["another type", 1_800_000_000, 1_800_000_002, "type"],
    ["a date", "2027-01-15", "2027-01-15", "format"],
    ["no value", undefined, undefined, "missing"],
  ])("with %s is different", (_name, other, otherAgain, kind) => {
    const volatile = createVolatile("at", time);
    const [first, second] = [pair({ at: time(0) }, { at: other }), pair({ at: time(2) }, { at: otherAgain })];
    expect(comparePair(first, rules, volatile)).toMatchObject({ result: "differs" });
    expect(decide(volatile, first, second)).toBe(`different at ${kind}`);
  });

  test("with another letter case is different", () => {
    const volatile = createVolatile("token", (at) => (at * 7919 + 48_879).toString(16));
    const both = pair({ token: "beef1" }, { token: "BEEF2" });
    expect(decide(volatile, both, both)).toBe("different token format");
  });

  test("of numbers is different in another unit, and with more digits", () => {
    const volatile = createVolatile("load", (at) => (at * 37) % 100);
    const unit = pair({ load: 50 }, { load: 50_000 });
    const digits = pair({ load: 50 }, { load: 0.5 });
    expect(decide(volatile, unit, unit)).toBe("different load value");
    expect(decide(volatile, digits, digits)).toBe("different load format");
  });

  test("with numbers that no double holds is stored as JSON, too", () => {
    const raw = (digits: string) => ({ ...answer({}), body: Buffer.from(`{"load":${digits}}`) });
    const volatile = learnVolatile("load", (at) => at);
    recordOldPair(raw("1e999"), raw("-1e999"), rules, volatile.seenBy("a"));
    expect(new VolatileFields(JSON.parse(JSON.stringify(volatile))).isVolatile(name, "load")).toBe(true);
  });

  test("is different if most old values have digits that no new one has", () => {
    const volatile = createVolatile("balance", (at) => ((at * 37) % 100) + 0.25);
    const first = pair({ balance: 20.25 }, { balance: 20 });
    for (let count = 0; count < 50; count += 1) comparePair(first, rules, volatile);
    expect(decide(volatile, first, pair({ balance: 57.25 }, { balance: 57 }))).toBe(
      "different balance format",
    );
  });

  test("is the same after it was stored as JSON, and small", () => {
    const text = JSON.stringify(learnVolatile("at", time));
    const restored = new VolatileFields(JSON.parse(text));
    expect([restored.isVolatile(name, "at"), text.length < 600]).toEqual([true, true]);
  });

  test.each([null, [], { route: 1 }, { [name]: { pairs: "60", fields: {} } }])(
    "is unknown where what was stored is %j",
    (state) => {
      expect(new VolatileFields(state).toJSON()).toEqual({});
    },
  );

  test("is known better by whoever has seen more pairs of its route", () => {
    const [less, more] = [learnVolatile("at", time, 30), learnVolatile("at", time, 60)];
    less.adopt(more.toJSON());
    expect(less.isVolatile(name, "at")).toBe(true);
    more.adopt(learnVolatile("other", time, 30).toJSON());
    expect(more.isVolatile(name, "at")).toBe(true);
  });

  describe("behind a clock that differs", () => {
    /** Compares a service with one whose clock is so many seconds ahead, once every ten seconds. */
    function compareClocks(seconds: number, write: (at: number) => unknown): string[] {
      const all = new VolatileFields();
      const results = Array.from({ length: 300 }, (_, index) => {
        const at = index * 10;
        const volatile = all.seenBy(`client ${index % 3}`);
        const pairAt = (now: number): AnswerPair => pair({ at: write(now) }, { at: write(now + seconds) });
        if (comparePair(pairAt(at), rules, volatile).result === "differs")
          return decide(volatile, pairAt(at), pairAt(at + 3));
        if (volatile.needsPair(name, (index % 100) / 100))
          recordOldPair(pairAt(at).old, pairAt(at + 1).old, rules, volatile);
        return "equal";
      });
      return [...new Set(results)].toSorted();
    }

    test.each([-240, -2, 2, 90, 240])("by %i s is not different", (seconds) => {
      expect(compareClocks(seconds, time)).toEqual(["equal", "unstable at value"]);
      expect(compareClocks(seconds, (at) => time(at, `.${String(at % 1000).padStart(3, "0")}`))).toEqual([
        "equal",
        "unstable at value",
      ]);
    });

    test("by an hour is different: that is a time zone", () => {
      expect(compareClocks(3600, time)).toContain("different at value");
    });
  });
});

test("fields with invented names use bounded memory, and a client with too many gets none confirmed", () => {
  const all = new VolatileFields({}, 0);
  for (let count = 0; count < 2000; count += 1) {
    const both = pair({ [`x${count}`]: 1, [`__proto__${count}`]: "a" }, {});
    decide(all.seenBy("a"), both, both);
  }
  expect(JSON.stringify(all).length).toBeLessThan(50_000);
  const both = pair({ last: 1 }, { last: 2 });
  expect(decide(all.seenBy("a"), both, both)).toBe("unstable last value");
  expect(decide(all.seenBy("b"), both, both)).toBe("different last value");
});

test("many fields from other clients do not prevent a new difference from being confirmed", () => {
  const all = new VolatileFields({}, 0);
  for (let route = 0; route < 30; route += 1)
    for (let client = 0; client < 12; client += 1)
      for (let count = 0; count < 50; count += 1)
        all
          .seenBy(`client ${client}`)
          .recordPair(`GET /${route}`, [{ field: `x${count}`, kind: "value", old: "1", new: "2" }], []);
  const both = pair({ last: 1 }, { last: 2 });
  expect(decide(all.seenBy("client 0"), both, both)).toBe("different last value");
  expect(decide(all.seenBy("b"), both, both)).toBe("different last value");
});

describe("one client that writes while it reads", () => {
  /** What honest clients have seen, and one that has shown a field of its own with another value in each of many pairs. */
  function learnWithWriter(pairsOfWriter: number, honest = 5): VolatileFields {
    const volatile = new VolatileFields();
    for (let count = 0; count < 60; count += 1)
      for (let client = 0; client < honest; client += 1)
        volatile.seenBy(`honest ${client}`).recordEqual(name);
    const writer = volatile.seenBy("writer");
    for (let time = 0; time < pairsOfWriter; time += 1) {
      recordOldPair(answer({ label: `a${time}` }), answer({ label: `b${time}` }), rules, writer);
      const both = pair({ label: time }, { label: time + 1 });
      confirm(both, pair({ label: time + 2 }, { label: 1 }), rules, writer);
    }
    return volatile;
  }

  test.each([10, 100, 1000, 10_000])("hides no difference of others, after %i pairs of its own", (pairs) => {
    const volatile = learnWithWriter(pairs);
    expect(volatile.isVolatile(name, "label")).toBe(false);
    expect([...volatile.fieldsOf(name)]).toEqual([]);
    const both = pair({ label: "right" }, { label: "wrong" });
    const honest = volatile.seenBy("honest 1");
    expect(comparePair(both, rules, honest).result).toBe("differs");
    expect(decide(honest, both, both)).toBe("different label value");
    expect(decide(volatile.seenBy("new"), both, both)).toBe("different label value");
    expect(JSON.stringify(volatile).length).toBeLessThan(2000);
  });

  test("widens no range of a volatile field for others, and adds no format for them", () => {
    const volatile = learnVolatile("load", (at) => (at * 37) % 100);
    const writer = volatile.seenBy("writer");
    for (let count = 0; count < 100; count += 1)
      for (const value of [1e9, 0.123_456, "a text"])
        recordOldPair(answer({ load: 1 }), answer({ load: value }), rules, writer);
    const unit = pair({ load: 50 }, { load: 50_000 });
    const digits = pair({ load: 50 }, { load: 0.5 });
    expect(decide(volatile.seenBy("a"), unit, unit)).toBe("different load value");
    expect(decide(volatile.seenBy("a"), digits, digits)).toBe("different load format");
  });

  test.each([100, 10_000])("keeps no field from being volatile by %i equal answers", (pairs) => {
    const volatile = learnVolatile("at", (at) => at);
    for (let count = 0; count < pairs; count += 1) volatile.seenBy("poller").recordEqual(name);
    expect(volatile.isVolatile(name, "at")).toBe(true);
  });

  test("among many other clients takes the place of none that has shown more", () => {
    const volatile = learnVolatile("at", (at) => at);
    for (let client = 0; client < 1000; client += 1) volatile.seenBy(`client ${client}`).recordEqual(name);
    expect(volatile.isVolatile(name, "at")).toBe(true);
    expect(Object.keys(volatile.toJSON()[name] ?? {}).length).toBeLessThanOrEqual(12);
  });
});
