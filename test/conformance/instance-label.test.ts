/** The label of an instance. */
import { describe, expect, test } from "@jest/globals";
import { successWith, errorOn, type Json, minimalInstance } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

const labels: readonly (readonly [string, string, boolean])[] = [
  ["A-067", "abc", true],
  ["A-067", "ab", false],
  ["A-067", "a", false],
  ["A-067", "", false],
  ["A-067", "a".repeat(32), true],
  ["A-067", "a".repeat(33), false],
  ["A-068", "a-b_c9Z", true],
  ["A-068", "ab cd", false],
  ["A-068", "ab.cd", false],
  ["A-068", "ab/cd", false],
  ["A-068", "blåbær", false],
  ["A-068", "ab\ncd", false],
  ["A-068", "abcd\n", false],
  ["A-069", "a1b", true],
  ["A-069", "1abc", false],
  ["A-069", "abc1", false],
  ["A-069", "-abc", false],
  ["A-069", "abc-", false],
  ["A-069", "_abc", false],
  ["A-069", "abc_", false],
  ["A-070", "a-b-c", true],
  ["A-070", "a_b_c", true],
  ["A-070", "a-_b", true],
  ["A-070", "a--b", false],
  ["A-070", "a__b", false],
  ["A-070", "ab-c--d", false],
];

describe("the label of an instance", () => {
  test.each(labels)("%s %j, on create (good: %s)", async (_id, label, good) => {
    gateway.clock.advance(31_000);
    gateway.takeV4Requests();
    const response = await gateway.request("POST /vm/instances", { body: { ...minimalInstance, label } });
    const expected = good ? successWith({ label }) : errorOn(400, "label");
    expect(response).toEqual(expected);
    expect(gateway.takeV4Requests().map(({ body }) => (body as Json)["label"])).toEqual(good ? [label] : []);
  });

  test.each(labels)("%s %j, on edit (good: %s)", async (_id, label, good) => {
    const before = (await gateway.request("GET /vm/instances/5240")).body.label;
    const response = await gateway.request("PUT /vm/instances/5240", { body: { label } });
    const expected = good ? successWith({ label }) : errorOn(400, "label");
    expect(response).toEqual(expected);
    expect((await gateway.request("GET /vm/instances/5240")).body.label).toBe(good ? label : before);
  });
});
