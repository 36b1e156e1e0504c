/** What `check` tells authors to write: it names what a place may have, and takes what it suggests. */
import { describe, expect, test } from "@jest/globals";
import type { SmallPack } from "../../support/small-pack.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

describe("check reports a list that JSONata collapses", () => {
  const faultsOf = (read: string) => faultsOfSmallPack({ book: { fields: { id: "id", title: { read } } } });

  test.each([
    "parts[kind = 1].name",
    "parts[kind = 1].name[0]", // of each part
    "parts[kind = 1]",
  ])("in %s", (read) =>
    expect(faultsOf(read)).toEqual([
      "JSONata turns a list of one into its member, and an empty list into nothing: write [ … ] around it for a list, or ( … )[0] for its first member",
    ]),
  );

  test.each([
    "(parts[kind = 1].name)[0]",
    "[parts[kind = 1].name]",
    "parts[kind = 1][0].name",
    "parts[kind = 1]^(>size)[0]",
  ])("and not in %s", (read) => expect(faultsOf(read)).toEqual([]));
});

describe("check names the keys and words that a place may have", () => {
  const LIST = { client: "GET /books", upstream: "GET /items", response: "list" };

  test.each<[what: string, pack: SmallPack, fault: string]>([
    [
      "for the code of a rule",
      { pack: { errors: { validation: { codes: { maxlength: "long", other: "x" } } } } },
      'unknown key "maxlength"; did you mean "maxLength"?',
    ],
    [
      "for the rule of other codes",
      { pack: { errors: { other_codes: { codes: "x" } } } },
      'unknown key "codes"; did you mean "code"? there are: code, status, message',
    ],
    [
      "for pages that are no text",
      { book: { routes: [{ ...LIST, pagination: 5 }] } },
      'must be "none" or a map, but is a number',
    ],
    [
      "for a word that may be none",
      { client: { responses: { field_indexes: "all" } } },
      '"all" is not allowed here; there are: "none", dots, brackets',
    ],
    [
      "where there is no name at all",
      { book: { routes: [{ ...LIST, calls: ["current"] }] } },
      'unknown call "current"; there is none',
    ],
  ])("%s", (_, pack, fault) => expect(faultsOfSmallPack(pack)).toContainEqual(fault));

  test("and of the rules of a code, all that it can", () => {
    const [fault] = faultsOfSmallPack({ pack: { errors: { validation: { codes: { other: "x" } } } } });
    expect(fault).toMatch(/^unknown key "other"; there are: required, unknown, /);
  });
});

describe("check requires the name of a list", () => {
  const LIST = { client: "GET /books", upstream: "GET /items", response: "list" };
  const named = { responses: { list: { $list: "$items" } } };
  const book = { list: undefined, routes: [LIST] };
  const MISSING = 'the shape of this list has its name, $list: add the key "list" to the resource';

  test.each<[where: string, pack: SmallPack, faults: readonly string[]]>([
    ["where the client's shape has $list", { client: named, book }, [MISSING]],
    ["where the upstream's shape has $list", { upstream: named, book }, [MISSING]],
    [
      "and not where upstream_list names it",
      { upstream: named, book: { ...book, upstream_list: "items" } },
      [],
    ],
    ["and not where no shape has $list", { book }, []],
  ])("%s", (_, pack, faults) => expect(faultsOfSmallPack(pack)).toEqual(faults));
});
