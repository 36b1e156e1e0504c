import { describe, expect, test } from "@jest/globals";
import { parseFilter } from "../../../src/pack/filters/parse-filter.ts";
import { selectRows } from "../../../src/pack/filters/select.ts";
import type { SelectFields } from "../../../src/pack/filters/select.ts";
import { grammar } from "./alpha-grammar.ts";
import { reasonOf } from "./refused.ts";

const rows = [
  {
    id: "debian8",
    label: "Debian 8",
    size: 600,
    recommended: true,
    created: "2015-04-27T16:26:41",
    tags: ["old", "apt"],
  },
  { id: "arch", label: "Arch", size: 800, recommended: true, created: "2016-06-13T20:31:34", tags: [] },
  { id: "debian7", label: "debian 7", size: 600, recommended: false, created: null, tags: ["older"] },
  {
    id: "rocket",
    label: "🚀",
    size: 900,
    recommended: false,
    created: "2017-01-01T00:00:00",
    tags: ["\uffee"],
  },
  { id: "wide", label: "\uffee", size: 900, recommended: false, created: "2017-01-01T00:00:00", tags: [] },
];
type Row = (typeof rows)[number];

const fields: SelectFields<Row> = new Map([
  ["id", { value: (row: Row) => row.id }],
  ["label", { value: (row: Row) => row.label }],
  ["size", { value: (row: Row) => row.size }],
  ["deprecated", { value: (row: Row) => !row.recommended }],
  ["created", { value: (row: Row) => row.created, dateTime: true }],
  ["tags", { value: (row: Row) => row.tags }],
  ["missing", { value: () => undefined }],
  ["self", { value: (row: Row) => row.id, reference: true, idName: "id" }],
]);

const select = (text: string) => selectRows(rows, parseFilter(text, grammar), fields).map((row) => row.id);
const everything = rows.map((row) => row.id);

describe("T-4.5 selecting rows in the gateway", () => {
  test.each([
    ["A-020 without a filter all rows stay", "{}", everything],
    ["A-020 strings are case-sensitive", '{"label":"Debian 7"}', []],
    ["A-020 equality does not convert", '{"size":"600"}', []],
    ["A-020 a derived field", '{"deprecated":true}', ["debian7", "rocket", "wide"]],
    ["A-020 null", '{"created":null}', ["debian7"]],
    ["A-020 a member that is missing is null", '{"missing":null}', everything],
    ["A-020 an array equals what an element equals", '{"tags":"old"}', ["debian8"]],
    ["A-020 of a whole object only the id counts", '{"self":{"id":"arch","label":"x"}}', ["arch"]],
    ["A-021 keys are ANDed", '{"size":600,"deprecated":true}', ["debian7"]],
    ["A-022 +or", '{"+or":[{"id":"arch"},{"id":"wide"}]}', ["arch", "wide"]],
    ["A-022 +and", '{"+and":[{"size":600},{"deprecated":false}]}', ["debian8"]],
    ["A-023 +gt", '{"size":{"+gt":800}}', ["rocket", "wide"]],
    ["A-023 +gte", '{"size":{"+gte":800}}', ["arch", "rocket", "wide"]],
    ["A-023 +lt", '{"size":{"+lt":800}}', ["debian8", "debian7"]],
    ["A-023 +lte", '{"size":{"+lte":600}}', ["debian8", "debian7"]],
    ["A-023 operators of one field are ANDed", '{"size":{"+gt":600,"+lt":900}}', ["arch"]],
    [
      "A-023 a date-time, never null",
      '{"created":{"+lte":"2016-06-13T22:31:34.5+02:00"}}',
      ["debian8", "arch"],
    ],
    ["A-023 a text has no place among numbers", '{"label":{"+gt":0}}', []],
    ["A-024 +contains", '{"label":{"+contains":"ebian"}}', ["debian8", "debian7"]],
    ["A-024 +contains on an array: in one element", '{"tags":{"+contains":"old"}}', ["debian8", "debian7"]],
    ["A-024 +contains looks into texts only", '{"size":{"+contains":"6"}}', []],
    ["A-025 +neq", '{"label":{"+neq":"Arch"}}', ["debian8", "debian7", "rocket", "wide"]],
    ["A-025 +neq of an array", '{"tags":{"+ne":"old"}}', ["arch", "debian7", "rocket", "wide"]],
    ["A-025 +neq null", '{"created":{"+neq":null}}', ["debian8", "arch", "rocket", "wide"]],
    [
      "A-026 text is ordered by code point",
      '{"+order-by":"label"}',
      ["arch", "debian8", "debian7", "wide", "rocket"],
    ],
    [
      "A-026 equal rows keep their order",
      '{"+order_by":"size"}',
      ["debian8", "debian7", "arch", "rocket", "wide"],
    ],
    ["A-026 null comes first", '{"+order-by":"created"}', ["debian7", "debian8", "arch", "rocket", "wide"]],
    [
      "A-026 booleans have an order",
      '{"+order-by":"deprecated"}',
      ["debian8", "arch", "debian7", "rocket", "wide"],
    ],
    ["A-026 what has no order stays", '{"+order-by":"tags"}', everything],
    [
      "A-028 descending, equal rows still in their order",
      '{"+order-by":"size","+order":"desc"}',
      ["rocket", "wide", "arch", "debian8", "debian7"],
    ],
    [
      "A-030 nested",
      '{"+or":[{"+and":[{"size":600},{"+or":[{"deprecated":true}]}]},{"id":"arch"}]}',
      ["arch", "debian7"],
    ],
  ])("%s", (_name, filter, ids) => expect(select(filter)).toEqual(ids));

  test.each([
    ["A-020 an unknown field", '{"vendor":"x"}', "vendor cannot be filtered by"],
    ["A-020 an unknown field behind one that holds for no row", '{"id":"x","vendor":"x"}', "vendor"],
    ["A-023 a comparison with text", '{"size":{"+gt":"x"}}', "size"],
    ["A-023 an invalid date-time", '{"created":{"+gt":"2017"}}', "created"],
    ["A-027 order by an unknown field", '{"+order-by":"vendor"}', "vendor cannot be ordered by"],
  ])("%s is rejected", (_name, filter, reason) => {
    expect(reasonOf(() => select(filter))).toContain(reason);
    expect(reasonOf(() => selectRows([], parseFilter(filter, grammar), fields))).toContain(reason);
  });

  test("the given rows are not changed", () => {
    const frozen = Object.freeze([...rows]);
    selectRows(frozen, parseFilter('{"+order-by":"label"}', grammar), fields);
    expect(frozen).toEqual(rows);
  });
});
