/** Headers that all upstream requests have: no rule of a request may name them. */
import { expect, test } from "@jest/globals";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const V3 = { header: "X-Api-Version", value: "3" };

test.each([
  ["headers", { headers: { "X-Api-Version": "3" } }, "X-Api-Version"],
  ["version", { version: V3 }, "x-api-version"],
])('a header of "%s" is refused: %j', (key, upstream, name) => {
  const headers = { request: { "X-Version": { upstream: name } } };
  expect(faultsOfSmallPack({ client: { headers }, upstream })).toEqual([
    `"${name}" has a fixed value in "${key}" of the upstream`,
  ]);
});

test("a version that is a fixed header as well is refused", () => {
  expect(faultsOfSmallPack({ upstream: { headers: { "x-api-version": "2" }, version: V3 } })).toEqual([
    'this header has the version: see "version"',
  ]);
});
