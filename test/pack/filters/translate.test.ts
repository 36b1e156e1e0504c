import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import type { Scalar } from "../../../src/pack/values/value-kind.ts";
import { parseFilter } from "../../../src/pack/filters/parse-filter.ts";
import { translateFilter } from "../../../src/pack/filters/translate.ts";
import type { FilterField, FilterFields } from "../../../src/pack/filters/translate.ts";
import { grammar } from "./alpha-grammar.ts";
import { reasonOf } from "./refused.ts";

const regions = new Map<Scalar, Scalar[]>([
  ["newark", ["us-east"]],
  ["london", ["eu-west"]],
]);
const actions = new Map<Scalar, Scalar[]>([
  ["vm_boot", ["vm_boot", "lish_boot"]],
  ["vm_clone", ["vm_clone"]],
  ["none", []],
]);
const reference = { reference: true, idName: "id" } as const;

const fields: FilterFields = new Map<string, FilterField>([
  ["id", { v4: "id" }],
  ["label", { v4: "label" }],
  ["name", { v4: "label" }],
  ["group", { v4: "group" }],
  ["dnszone", { v4: "domain" }],
  ["size", { v4: "size" }],
  ["seen", { v4: "seen" }],
  ["created", { v4: "created", dateTime: true }],
  ["kernel", { v4: "kernel", ...reference }],
  ["datacenter", { v4: "region", ...reference, ordered: false, translate: (id) => regions.get(id) }],
  ["action", { v4: "action", translate: (action) => actions.get(action) }],
]);

const translate = (text: string, extra?: object) =>
  translateFilter(parseFilter(text, grammar), fields, grammar, extra).header;

describe("T-4.1 alpha's filter as a v4 filter", () => {
  test.each([
    ["A-020 a plain value is equality", '{"label":"x"}', '{"label":"x"}'],
    ["A-020 a boolean", '{"seen":false}', '{"seen":false}'],
    ["A-020 a number", '{"size":512.5}', '{"size":512.5}'],
    ["A-020 null", '{"group":null}', '{"group":null}'],
    ["A-020 null where values are translated", '{"datacenter":null}', '{"region":null}'],
    ["A-020 a field has v4's name", '{"dnszone":"example.org"}', '{"domain":"example.org"}'],
    ["A-020 a value is translated", '{"datacenter":"newark"}', '{"region":"us-east"}'],
    [
      "A-020 of a whole object only the id counts",
      '{"datacenter":{"id":"newark","label":"Newark, NJ","country":"us"}}',
      '{"region":"us-east"}',
    ],
    [
      "A-020 a whole object of a field without translation",
      '{"kernel":{"id":5,"deep":[[]]}}',
      '{"kernel":5}',
    ],
    [
      "A-020 a value with several v4 values",
      '{"action":"vm_boot"}',
      '{"+or":[{"action":"vm_boot"},{"action":"lish_boot"}]}',
    ],
    ["A-021 several keys stay one object", '{"label":"x","group":"y"}', '{"label":"x","group":"y"}'],
    [
      "A-021 two names of one v4 field are both kept",
      '{"label":"x","name":"y","id":1}',
      '{"+and":[{"label":"x"},{"label":"y"},{"id":1}]}',
    ],
    [
      "A-021 several values beside the client's own +or",
      '{"action":"vm_boot","+or":[{"id":1}]}',
      '{"+and":[{"+or":[{"action":"vm_boot"},{"action":"lish_boot"}]},{"+or":[{"id":1}]}]}',
    ],
    ["A-022 +or", '{"+or":[{"label":"a"},{"label":"b"}]}', '{"+or":[{"label":"a"},{"label":"b"}]}'],
    ["A-022 +and", '{"+and":[{"label":"a"},{}]}', '{"+and":[{"label":"a"},{}]}'],
    ["A-023 a comparison with a number", '{"size":{"+gt":-1.5}}', '{"size":{"+gt":-1.5}}'],
    [
      "A-023 a comparison with a date-time",
      '{"seen":false,"created":{"+gte":"2017-01-01T00:00:00"}}',
      '{"seen":false,"created":{"+gte":"2017-01-01T00:00:00"}}',
    ],
    [
      "A-023 a date-time with fraction and zone",
      '{"created":{"+lte":"2017-01-01T00:30:00.750+01:00"}}',
      '{"created":{"+lte":"2016-12-31T23:30:00"}}',
    ],
    [
      "A-023 equality with a date-time",
      '{"created":"2017-01-01T00:00:00.000Z"}',
      '{"created":"2017-01-01T00:00:00"}',
    ],
    [
      "A-023 a range is one object per operator, the only form that v4 documents",
      '{"size":{"+gte":1,"+lt":5}}',
      '{"+and":[{"size":{"+gte":1}},{"size":{"+lt":5}}]}',
    ],
    ["A-024 +contains", '{"label":{"+contains":"x"}}', '{"label":{"+contains":"x"}}'],
    [
      "A-024 +contains of a part of a date-time",
      '{"created":{"+contains":"2017"}}',
      '{"created":{"+contains":"2017"}}',
    ],
    ["A-025 +neq", '{"label":{"+neq":"x"}}', '{"label":{"+neq":"x"}}'],
    ["A-025 +neq with another scalar", '{"seen":{"+neq":true}}', '{"seen":{"+neq":true}}'],
    ["A-025 +neq null of a date-time", '{"created":{"+neq":null}}', '{"created":{"+neq":null}}'],
    ["A-025 +neq of a translated value", '{"datacenter":{"+neq":"london"}}', '{"region":{"+neq":"eu-west"}}'],
    [
      "A-025 +neq of a value with several v4 values",
      '{"action":{"+neq":"vm_boot"}}',
      '{"+and":[{"action":{"+neq":"vm_boot"}},{"action":{"+neq":"lish_boot"}}]}',
    ],
    ["A-026 +order-by", '{"+order-by":"dnszone"}', '{"+order_by":"domain"}'],
    [
      "A-026 +order_by",
      '{"label":"x","+order_by":"label","+order":"desc"}',
      '{"label":"x","+order_by":"label","+order":"desc"}',
    ],
    [
      "A-026 order stays at the top level",
      '{"+order-by":"id","label":"x","name":"y"}',
      '{"+and":[{"label":"x"},{"label":"y"}],"+order_by":"id"}',
    ],
    ["A-028 ascending when said", '{"+order":"asc","+order-by":"id"}', '{"+order_by":"id","+order":"asc"}'],
    ["A-029 +ne", '{"label":{"+ne":"x"}}', '{"label":{"+neq":"x"}}'],
    [
      "A-029 both spellings of one operator on one field",
      '{"label":{"+ne":"x","+neq":"y"}}',
      '{"+and":[{"label":{"+neq":"x"}},{"label":{"+neq":"y"}}]}',
    ],
    [
      "A-030 operators nest and names are translated at every depth",
      '{"+or":[{"dnszone":"a","+and":[{"datacenter":"newark"},{"+or":[{"dnszone":{"+ne":"b"}}]}]}]}',
      '{"+or":[{"domain":"a","+and":[{"region":"us-east"},{"+or":[{"domain":{"+neq":"b"}}]}]}]}',
    ],
  ])("%s", (_name, alpha, v4) => expect(translate(alpha)).toBe(v4));

  test("{} gives no filter", () => expect(translate("{}")).toBeUndefined());
});

describe("T-4.2 filters that v4 does not support are rejected", () => {
  test.each([
    ["A-020 an unknown field", '{"status":"running"}', "status cannot be filtered by"],
    ["A-020 v4's name of a field", '{"domain":"x"}', "domain"],
    ["A-020 a value that does not exist", '{"datacenter":"us-east"}', "datacenter has no such value"],
    ["A-020 a value without a v4 value", '{"action":"none"}', "action"],
    ["A-020 a whole object where none is allowed", '{"label":{"id":"x"}}', "label"],
    ["A-020 a whole object without an id", '{"datacenter":{"label":"Newark, NJ"}}', "datacenter"],
    ["A-020 an object with an invalid id", '{"datacenter":{"id":{"id":"newark"}}}', "datacenter"],
    ["A-020 a whole object whose id is inherited", '{"kernel":{"__proto__":{"id":"x"}}}', "kernel"],
    ["A-020 __proto__ is an unknown field", '{"__proto__":"x"}', "__proto__"],
    ["A-023 a number as a string", '{"size":{"+gt":"5"}}', "size"],
    ["A-023 an invalid date-time", '{"created":{"+gt":"2017-02-30T00:00:00"}}', "created"],
    ["A-023 a number for a date-time", '{"created":{"+gt":1483228800}}', "created"],
    ["A-023 equality with no date-time", '{"created":"yesterday"}', "created"],
    ["A-023 inequality with no date-time", '{"created":{"+neq":true}}', "created"],
    ["A-023 a comparison of translated values", '{"datacenter":{"+gt":1}}', "+gt"],
    ["A-024 +contains on translated values", '{"datacenter":{"+contains":"new"}}', "+contains"],
    ["A-025 +neq of a value that does not exist", '{"action":{"+ne":"vm_fly"}}', "action"],
    [
      "A-027 order by a field that is not filterable",
      '{"+order-by":"status"}',
      "status cannot be ordered by",
    ],
    ["A-027 order by values that v4 sorts differently", '{"+order-by":"datacenter"}', "datacenter"],
    ["A-030 an unknown field at depth", '{"+or":[{"+and":[{"id":1,"status":"x"}]}]}', "status"],
  ])("%s", (_name, alpha, reason) => expect(reasonOf(() => translate(alpha))).toContain(reason));
});

describe("T-4.3 a condition that the gateway adds", () => {
  const extra = { "+or": [{ action: "vm_boot" }] };

  test("is the whole filter if the client sends none", () => {
    expect(translate("{}", extra)).toBe('{"+or":[{"action":"vm_boot"}]}');
  });

  test("is combined with the client's filter by AND, which cannot widen it", () => {
    expect(translate('{"+or":[{"id":1}]}', extra)).toBe(
      '{"+and":[{"+or":[{"id":1}]},{"+or":[{"action":"vm_boot"}]}]}',
    );
  });

  test("keeps the ordering at the top level", () => {
    expect(translate('{"+order-by":"id"}', extra)).toBe('{"+or":[{"action":"vm_boot"}],"+order_by":"id"}');
    expect(translate('{"id":1,"+order-by":"id"}', { seen: true })).toBe(
      '{"+and":[{"id":1},{"seen":true}],"+order_by":"id"}',
    );
  });

  test("changes nothing if it is empty", () => {
    expect(translate('{"id":1}', {})).toBe('{"id":1}');
    expect(translate("{}", {})).toBeUndefined();
  });
});

describe("the filter header contains only printable ASCII", () => {
  test("decodes to the text that was sent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (label) => {
        const header = translate(JSON.stringify({ label })) ?? "";
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        expect(JSON.parse(header)).toEqual({ label });
      }),
    );
  });

  test.each([
    ["line ends", "a\r\nX-Other: b"],
    ["DEL", "\u007f"],
    ["latin-1", "é"],
    ["half a character", "\ud83d"],
    ["beyond the first plane", "🚀"],
  ])("escapes %s", (_name, label) => {
    const header = translate(JSON.stringify({ label })) ?? "";
    expect(header).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(header)).toEqual({ label });
  });
});
