/** Invalid filters, and fields that v4 cannot filter by. */
import { describe, expect, test } from "@jest/globals";
import { errorOn } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

/** Filters that every list rejects. */
const malformed: readonly (readonly [string, unknown])[] = [
  ["A-020 an array", []],
  ["A-020 an array of filters", [{ label: "a" }]],
  ["A-020 a string", '"label"'],
  ["A-020 a number", "5"],
  ["A-020 null", "null"],
  ["A-020 true", "true"],
  ["A-020 no JSON", "label=a"],
  ["A-020 half of an object", '{"label":'],
  ["A-020 an array as a value", { label: ["a"] }],
  ["A-020 an object without operators", { label: {} }],
  ["A-020 an object as a value", { label: { id: "a" } }],
  ["A-020 a field that does not exist", { nothing: 1 }],
  ["A-020 a field named like one of every object", '{"__proto__":1}'],
  ["A-022 +and of an object", { "+and": { label: "a" } }],
  ["A-022 +or of a string", { "+or": "label" }],
  ["A-022 +or of strings", { "+or": ["a"] }],
  ["A-022 +or inside a field", { label: { "+or": [{ label: "a" }] } }],
  ["A-023 +gt of null", { label: { "+gt": null } }],
  ["A-023 +gte of a boolean", { label: { "+gte": true } }],
  ["A-023 +lt of an array", { label: { "+lt": [1] } }],
  ["A-024 +contains of a number", { label: { "+contains": 1 } }],
  ["A-024 +contains of null", { label: { "+contains": null } }],
  ["A-025 +neq of an object", { label: { "+neq": { a: 1 } } }],
  ["A-025 +neq of an array", { label: { "+neq": ["a"] } }],
  ["A-026 +order-by of a number", { "+order-by": 1 }],
  ["A-026 both spellings", { "+order-by": "label", "+order_by": "label" }],
  ["A-027 +order-by of a field that does not exist", { "+order-by": "nothing" }],
  ["A-028 another direction", { "+order-by": "label", "+order": "up" }],
  ["A-028 a direction that is not a string", { "+order-by": "label", "+order": 1 }],
  ["A-028 +order alone", { "+order": "desc" }],
  ["A-028 +order beside a condition", { label: "a", "+order": "asc" }],
  ["A-029 +limit", { "+limit": 5 }],
  ["A-029 +xor", { "+xor": [] }],
  ["A-029 +like", { label: { "+like": "a" } }],
  ["A-029 +not", { "+not": { label: "a" } }],
  ["A-029 an operator with another case", { "+OR": [] }],
  ["A-029 +gt without a field", { "+gt": 5 }],
  ["A-029 deep inside", { "+or": [{ "+and": [{ label: { "+like": "a" } }] }] }],
  ["A-030 an order inside +and", { "+and": [{ "+order-by": "label" }] }],
];

describe.each(["/vm/instances", "/vm/distributions"])("GET %s rejects", (path) => {
  test.each(malformed)("%s", async (_name, filter) => {
    gateway.takeV4Requests();
    expect(await gateway.request(`GET ${path}`, { filter })).toEqual(errorOn(400));
    expect(gateway.takeV4Requests()).toEqual([]);
  });
});

describe("T-4.4 filters of instances that v4 does not support are rejected", () => {
  test.each([
    ["A-020 by status", { status: "running" }],
    ["A-020 by type", { type: "g6-standard-1" }],
    ["A-020 by created", { created: { "+gt": "2017-01-01T00:00:00" } }],
    ["A-020 by v4's name of a field", { region: "us-east" }],
    ["A-020 by v4's other name", { image: "vm/arch" }],
    ["A-020 by a field that only v4 has", { tags: "prod" }],
    ["A-020 by a datacenter that does not exist", { datacenter: "atlantis" }],
    ["A-020 by v4's id of a datacenter", { datacenter: "us-east" }],
    ["A-025 by any distribution", { distribution: { "+neq": null } }],
    ["A-023 +gt of a string", { id: { "+gt": "5" } }],
    ["A-024 +contains on a translated value", { datacenter: { "+contains": "ne" } }],
    ["A-027 ordered by status", { "+order-by": "status" }],
    ["A-027 ordered by datacenter", { "+order-by": "datacenter" }],
    ["A-030 inside +or", { "+or": [{ label: "a" }, { status: "running" }] }],
  ])("%s", async (_name, filter) => {
    gateway.takeV4Requests();
    expect(await gateway.request("GET /vm/instances", { filter })).toEqual(errorOn(400));
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("A-020 the reason names the field", async () => {
    const { body } = await gateway.request("GET /vm/instances", { filter: { status: "running" } });
    expect(body.errors[0].reason).toContain("status");
  });
});
