import { describe, expect, test } from "@jest/globals";
import { compareAnswers, createAnswerRules } from "../../../src/compare/answers/compare-answers.ts";
import type { Answer } from "../../../src/compare/answers/comparison.ts";
import { answer, differencesOf, rulesFor } from "./answers.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const OBJECT = rulesFor(pack, "GET /vm/instances/:id");
const LIST = rulesFor(pack, "GET /vm/instances");

const list = (rows: readonly unknown[], total = rows.length): object => ({
  vms: rows,
  page: 1,
  total_pages: 1,
  total_results: total,
});

const compare = (old: unknown, other: unknown): string[] | string =>
  differencesOf(answer(old), answer(other), OBJECT);
const compareRows = (old: readonly unknown[], other: readonly unknown[], rules = LIST): string[] | string =>
  differencesOf(answer(list(old)), answer(list(other)), rules);

describe("the kind of a difference", () => {
  test.each([
    ["a lost field", { a: 1, b: 2 }, { a: 1 }, "b missing"],
    ["an added field", { a: 1 }, { a: 1, b: null }, "b added"],
    ["null for a value", { a: "x" }, { a: null }, "a null"],
    ["a value for null", { a: null }, { a: [] }, "a null"],
    ["a number as a text", { a: 1 }, { a: "1" }, "a type"],
    ["an object for a list", { a: [1] }, { a: { id: 1 } }, "a type"],
    ["another text", { a: "running" }, { a: "up" }, "a value"],
    ["another number", { a: 1 }, { a: 2 }, "a value"],
    ["a rounded number", { a: 1.25 }, { a: 1.3 }, "a format"],
    ["another letter case", { a: "us" }, { a: "US" }, "a format"],
    ["a zone suffix", { a: "2026-01-01T10:00:00" }, { a: "2026-01-01T10:00:00Z" }, "a format"],
    ["an offset", { a: "2026-01-01T10:00:00Z" }, { a: "2026-01-01T12:00:00+02:00" }, "a format"],
    ["fractions of a second", { a: "2026-01-01T10:00:00" }, { a: "2026-01-01T10:00:00.000" }, "a format"],
    ["another time zone", { a: "2026-01-01T10:00:00" }, { a: "2026-01-01T12:00:00" }, "a value"],
    ["a field in an object", { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, "a.b.c value"],
    ["a long number", { a: 12345678901234567890n.toString() }, { a: "12345678901234567891" }, "a value"],
    ["an empty body", undefined, { a: 1 }, "added"],
  ])("of %s", (_name, old, other, expected) => {
    expect(compare(old, other)).toEqual([expected]);
  });

  test("is none for members in another order", () => {
    expect(compare({ a: 1, b: { c: 1, d: [] } }, { b: { d: [], c: 1 }, a: 1 })).toEqual([]);
  });

  test("is none for the same number with other digits, and one for digits that a double can't hold", () => {
    const raw = (text: string) => answer(Buffer.from(text));
    expect(differencesOf(raw('{"a":1.50}'), raw('{"a":1.5}'), OBJECT)).toEqual([]);
    expect(
      differencesOf(raw('{"a":12345678901234567890}'), raw('{"a":12345678901234567891}'), OBJECT),
    ).toEqual(["a value"]);
  });

  test("of members with the names of Object's own members", () => {
    const raw = (text: string) => answer(Buffer.from(text));
    expect(differencesOf(raw('{"__proto__":1}'), raw('{"constructor":1}'), OBJECT)).toEqual([
      "__proto__ missing",
      "constructor added",
    ]);
  });

  test("has the first pair of values as JSON", () => {
    const compared = compareAnswers(answer({ a: "x" }), answer({ a: null }), OBJECT);
    expect(compared).toEqual([{ field: "a", kind: "null", old: '"x"', new: "null" }]);
  });
});

describe("rows of a list", () => {
  const row = (id: number, label = `vm${id}`) => ({ id, label });

  test("are aligned by id, in any order", () => {
    expect(compareRows([row(1), row(2), row(3)], [row(3), row(1), row(2)])).toEqual([]);
    expect(compareRows([row(1), row(2)], [row(2), row(1, "other")])).toEqual(["vms.label value"]);
  });

  test("with the same mistake are one difference, with the values of the first row", () => {
    const rows = Array.from({ length: 25 }, (_, index) => row(index));
    const wrong = rows.map(({ id }) => ({ id, label: null }));
    expect(compareAnswers(answer(list(rows)), answer(list(wrong)), LIST)).toEqual([
      { field: "vms.label", kind: "null", old: '"vm0"', new: "null" },
    ]);
  });

  test("that only one side has are a difference of the list, and the total one of its own", () => {
    expect(compareRows([row(1), row(2)], [row(1)])).toEqual(["vms row", "total_results value"]);
    expect(compareRows([row(1)], [row(1), row(2)])).toEqual(["vms row", "total_results value"]);
  });

  test("are aligned where the id is a text, has another letter case, or is v4's", () => {
    const rules = rulesFor(pack, "GET /datacenters");
    const regions = (...ids: readonly unknown[]) =>
      answer({ datacenters: ids.map((id) => ({ id, label: "x" })) });
    expect(compareRows([row(1), row(2)], [{ ...row(2), id: "2" }, row(1)])).toEqual(["vms.id type"]);
    expect(differencesOf(regions("newark", "dallas"), regions("Dallas", "newark"), rules)).toEqual([
      "datacenters.id format",
    ]);
    expect(differencesOf(regions("newark", "dallas"), regions("dallas", "us-east"), rules)).toEqual([
      "datacenters.id value",
    ]);
  });

  test("all with another id are compared by their place", () => {
    expect(compareRows([row(1, "a"), row(2, "b")], [row(11, "a"), row(12, "b")])).toEqual(["vms.id value"]);
  });

  test("without ids are compared as equal values in any order, and then by their place", () => {
    const rows = (...labels: readonly string[]) => labels.map((label) => ({ label }));
    expect(compareRows(rows("a", "b", "c"), rows("c", "a", "b"))).toEqual([]);
    expect(compareRows(rows("a", "b", "b"), rows("b", "a", "x"))).toEqual(["vms.label value"]);
    expect(compare({ ips: ["1", "2"] }, { ips: ["2", "1"] })).toEqual([]);
    expect(compare({ ips: ["1", "2"] }, { ips: ["2"] })).toEqual(["ips row"]);
    expect(compare({ ips: ["1", "1"] }, { ips: ["1"] })).toEqual(["ips row"]);
  });

  test("of lists in lists are compared by their place", () => {
    expect(
      compare(
        {
          cpu: [
            [1, 5],
            [2, 7],
          ],
        },
        {
          cpu: [
            [1, 7],
            [2, 5],
          ],
        },
      ),
    ).toEqual(["cpu value"]);
  });

  test("are identified by the first member of their object where they have no id", () => {
    const rules = rulesFor(pack, "GET /networking/ipv4");
    const rows = (...addresses: readonly string[]) =>
      answer({ ipv4s: addresses.map((address) => ({ address, rdns: `of ${address}` })) });
    expect(differencesOf(rows("a", "b"), rows("b"), rules)).toEqual(["ipv4s row"]);
  });
});

describe("the order of a list", () => {
  const rows = (...labels: readonly string[]) =>
    labels.map((label) => ({ id: Number(label.slice(1)), label: label[0] }));
  const ordered = rulesFor(pack, "GET /vm/instances", "/x", { "+order_by": "label" });

  test("counts where the request orders", () => {
    expect(compareRows(rows("a1", "b2"), rows("b2", "a1"), ordered)).toEqual(["vms order"]);
    expect(compareRows(rows("a1", "b2"), rows("b2", "a1"))).toEqual([]);
  });

  test("does not count among rows that are equal in what the list is ordered by", () => {
    expect(compareRows(rows("a1", "a2", "b3"), rows("a2", "a1", "b3"), ordered)).toEqual([]);
  });

  test("counts where the request orders by a field that rows do not have", () => {
    const rules = rulesFor(pack, "GET /vm/instances", "/x", { "+order-by": "created" });
    expect(compareRows(rows("a1", "b2"), rows("b2", "a1"), rules)).toEqual(["vms order"]);
  });

  test("is not asked for by a filter that is not JSON, or not an object", () => {
    const route = pack.route("GET /vm/instances");
    if (!route) throw new Error("no route");
    const orders = ["{", "[]", '"+order_by"', `${"[".repeat(1000)}${"]".repeat(1000)}`].map(
      (filter) => createAnswerRules(pack, route, { method: "GET", path: "/x?page=1", filter }).order,
    );
    expect(orders).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe("a list in an envelope of its route or resource", () => {
  const envelopes = packIn("examples/json-api/pack");

  test.each([
    ["GET /tags", "tags"],
    ["GET /tags/:id/similar", "found"],
  ])("has the rows of %s by what identifies them", (name, member) => {
    const rows = [{ name: "a" }, { name: "b" }];
    const [old, other] = [answer({ [member]: rows }), answer({ [member]: rows.slice(1) })];
    expect(differencesOf(old, other, rulesFor(envelopes, name))).toEqual([`${member} row`]);
  });

  test("has its range in a header", () => {
    const [old, other] = ["0-1/9", "0-1/8"].map((range) =>
      answer({ posts: [] }, 200, { "content-range": `posts ${range}` }),
    ) as [Answer, Answer];
    expect(differencesOf(old, other, rulesFor(envelopes, "GET /posts"))).toEqual([
      "header content-range value",
    ]);
  });
});

describe("errors", () => {
  const library = packIn("examples/library/pack");
  const rules = rulesFor(library, "GET /books");
  const error = (...problems: readonly object[]) => answer({ problems }, 400);

  test("are equal with other texts, and entries in another order", () => {
    const old = error({ at: "title", text: "too long" }, { at: "price", text: "negative" });
    const other = error({ at: "price", text: "Below 0" }, { at: "title", text: "At most 9" });
    expect(differencesOf(old, other, rules)).toEqual([]);
  });

  test.each([
    ["field", { at: "name", text: "too long" }, ["problems.at value"]],
    ["member", { at: "title", message: "too long" }, ["problems.text missing", "problems.message added"]],
    ["type", { at: "title", text: ["too long"] }, ["problems.text type"]],
  ])("with another %s differ", (_what, problem, expected) => {
    expect(differencesOf(error({ at: "title", text: "too long" }), error(problem), rules)).toEqual(expected);
  });

  test.each([
    [{ name: ["short"] }, []],
    [{ address: ["too long"] }, ["name missing", "address added"]],
  ])("by field are compared by their keys: %j", (problems, expected) => {
    const byField = rulesFor(packIn("examples/shipping/pack"), "GET /crates");
    const old = answer({ name: ["too long"] }, 422);
    expect(differencesOf(old, answer(problems, 422), byField)).toEqual(expected);
  });

  test("with another code differ, in whichever shape the pack has it", () => {
    const coded = rulesFor(packIn("examples/shipping/pack"), "GET /crates");
    const withCode = (is: string) => answer({ errors: [{ at: "name", is }] }, 409);
    expect(differencesOf(withCode("weight"), withCode("gone"), coded)).toEqual(["errors.is value"]);
  });

  test("with another status differ in it", () => {
    const body = { problems: [{ text: "no" }] };
    expect(differencesOf(answer(body, 400), answer(body, 404), rules)).toEqual(["status status"]);
  });

  test("for a success are a difference of the status alone", () => {
    expect(differencesOf(answer({ books: [] }), error({ text: "no" }), rules)).toEqual(["status status"]);
  });
});

describe("answers that can't be compared", () => {
  const ok = answer({ a: 1 });

  test.each([
    ["failed", answer({}, 503)],
    ["failed", answer({}, 500)],
    ["limited", answer({}, 429)],
    ["limited", answer({}, 420)],
    ["unreadable", answer(Buffer.from("<html>"))],
    ["unreadable", answer(Buffer.from('{"a":'))],
    ["size", answer({ a: "x".repeat(1024 * 1024) })],
    ["size", answer(Buffer.from("[".repeat(1000) + "]".repeat(1000)))],
    ["size", answer(Array.from({ length: 300_000 }, () => 1))],
  ])("are %s, on either side", (reason, bad) => {
    expect(differencesOf(bad, ok, OBJECT)).toBe(reason);
    expect(differencesOf(ok, bad, OBJECT)).toBe(reason);
  });

  test("are limited by the status that the pack has for it, which means nothing else to another pack", () => {
    const ofLibrary = rulesFor(packIn("examples/library/pack"), "GET /books/:number");
    expect(differencesOf(answer({}, 503), ok, ofLibrary)).toBe("limited");
    expect(differencesOf(answer({}, 420), ok, ofLibrary)).toEqual(["status status"]);
  });

  test("are files", () => {
    const rules = rulesFor(pack, "GET /account/clients/:client/thumbnail");
    expect(differencesOf(answer(Buffer.from("PNG")), answer(Buffer.from("PNG")), rules)).toBe("unreadable");
  });

  test("are pages by an opaque cursor after the first one", () => {
    const subscriptions = packIn("examples/cursors/pack");
    const page = (cursor: unknown) =>
      answer({ list: [{ subscription: { id: "1", plan: "a" } }], next_offset: cursor });
    const first = rulesFor(subscriptions, "GET /subscriptions", "/subscriptions?limit=2");
    const next = rulesFor(subscriptions, "GET /subscriptions", "/subscriptions?offset=abc");
    expect(differencesOf(page("abc"), page("xyz"), next)).toBe("cursor");
    expect(differencesOf(page("abc"), page("xyz"), first)).toEqual([]);
    expect(differencesOf(page("abc"), page(null), first)).toEqual(["next_offset null"]);
  });
});

test("only headers that the pack declares are compared", () => {
  const rules = rulesFor(packIn("examples/cursors/pack"), "GET /tickets");
  const page = (count: string) => answer([], 200, { "x-total-count": count, server: count });
  expect(differencesOf(page("10"), page("11"), rules)).toEqual(["header x-total-count value"]);
});

test("links are compared without their host", () => {
  const songs = packIn("examples/cursors/pack");
  const rules = rulesFor(songs, "GET /songs");
  const page = (next: string) => answer({ songs: [], limit: 10, next });
  expect(
    differencesOf(page("https://old.example/songs?page=2"), page("http://new.example/songs?page=2"), rules),
  ).toEqual([]);
  expect(
    differencesOf(page("https://old.example/songs?page=2"), page("https://new.example/songs?page=3"), rules),
  ).toEqual(["next value"]);
});

describe("hostile answers", () => {
  test("have at most 100 differences, with short fields and values", () => {
    const many = (value: unknown) =>
      Object.fromEntries(
        Array.from({ length: 5000 }, (_, index) => [`${index}${"n".repeat(2000)}`.slice(0, 150), value]),
      );
    const compared = compareAnswers(answer(many("x")), answer(many(null)), OBJECT);
    expect(compared).toHaveLength(100);
    const long = compareAnswers(answer({ ["n".repeat(5000)]: "x".repeat(5000) }), answer({}), OBJECT);
    const [found] = typeof long === "string" ? [] : long;
    expect([found?.field.length, found?.old?.length]).toEqual([300, 2000]);
  });

  test("with lists in lists of objects, without ids, are compared", () => {
    let [old, other]: unknown[] = [1, 2];
    for (let depth = 0; depth < 20; depth += 1) {
      old = [{ a: old, b: "x".repeat(1000) }];
      other = [{ a: other, b: "x".repeat(1000) }];
    }
    expect(compare(old, other)).toEqual([`${Array.from({ length: 20 }, () => "a").join(".")} value`]);
  });
});
