import { describe, expect, test } from "@jest/globals";
import { recordOldPair } from "../../../src/compare/answers/judge.ts";
import { distinctKey } from "../../../src/compare/answers/distinct-key.ts";
import { VolatileFields } from "../../../src/compare/answers/volatile-fields.ts";
import { answer, rulesFor } from "./answers.ts";
import { packIn } from "../../support/packs.ts";

const rules = rulesFor(packIn("mappings"), "GET /vm/instances");
const other = rulesFor(packIn("mappings"), "GET /vm/instances/:id");

const key = (path: string, filter: string | null, body: unknown, volatile = new VolatileFields()): string =>
  distinctKey(rules, { method: "GET", path, filter }, answer(body), volatile);

const BODY = { vms: [{ id: 1, a: 1 }, { id: 2 }] };
const KEY = key("/vms?page=1&size=2", '{"a":1,"b":[2]}', BODY);

describe("the key of a comparison", () => {
  test("is 64 bits in base64url", () => {
    expect(KEY).toMatch(/^[\w-]{11}$/);
  });

  test("is the same for parameters, filter members and rows in another order", () => {
    expect(key("/vms?size=2&page=1", ' { "b": [2], "a": 1 }', { vms: [{ id: 2 }, { a: 1, id: 1 }] })).toBe(
      KEY,
    );
  });

  test.each([
    ["path", "/vms/1?page=1&size=2", '{"a":1,"b":[2]}', BODY],
    ["parameter", "/vms?page=2&size=2", '{"a":1,"b":[2]}', BODY],
    ["filter", "/vms?page=1&size=2", '{"a":2,"b":[2]}', BODY],
    ["filter that is not JSON", "/vms?page=1&size=2", "{", BODY],
    ["answer", "/vms?page=1&size=2", '{"a":1,"b":[2]}', { vms: [{ id: 1, a: 2 }, { id: 2 }] }],
  ])("is another one for another %s", (_what, path, filter, body) => {
    expect(key(path, filter, body)).not.toBe(KEY);
  });

  test("is another one for another route, or status", () => {
    const request = { method: "GET", path: "/vms?page=1&size=2", filter: '{"a":1,"b":[2]}' };
    expect(distinctKey(other, request, answer(BODY), new VolatileFields())).not.toBe(KEY);
    expect(distinctKey(rules, request, answer(BODY, 404), new VolatileFields())).not.toBe(KEY);
  });

  test("does not depend on volatile fields", () => {
    const volatile = new VolatileFields();
    const at = (time: number): object => ({ vms: [{ id: 1, updated: time }] });
    for (let time = 0; time < 60; time += 1)
      for (const client of ["a", "b"])
        recordOldPair(answer(at(time)), answer(at(time + 1)), rules, volatile.seenBy(client));
    expect(key("/vms", null, at(1), volatile)).toBe(key("/vms", null, at(2), volatile));
    expect(key("/vms", null, at(1))).not.toBe(key("/vms", null, at(2)));
  });
});
