import { expect, test } from "vitest";
import { createRouter, type ParameterType } from "../../../src/mapping/router.ts";

/** What a path parameter of a type is, found in a path; undefined where no route is. */
function found(type: ParameterType, segment: string): string | undefined {
  const router = createRouter<string>();
  router.add("GET", { segments: ["hosts", { parameter: "host", type }] }, "route");
  return router.match("GET", ["hosts", segment])?.parameters["host"];
}

test.each([
  ["ip", "198.51.100.23", "198.51.100.23"],
  ["ip", "2001:DB8::0001", "2001:db8::1"],
  ["ip4", "198.51.100.23", "198.51.100.23"],
  ["ip6", "2001:db8:0:0:0:0:0:1", "2001:db8::1"],
  ["integer", "7", "7"],
  ["text", "first", "first"],
  ["text", "a..b", "a..b"],
  ["text", "100%", "100%"],
  ["text", "a\\b;c", "a\\b;c"],
] as const)("a parameter of type %s is %s, as %s", (type, segment, value) =>
  expect(found(type, segment)).toBe(value),
);

test.each([
  ["ip", "first"],
  ["ip", "fe80::1%eth0"],
  ["ip", "198.51.100.23/24"],
  ["ip4", "2001:db8::1"],
  ["ip6", "198.51.100.23"],
  ["integer", "07"],
  ["text", ".."],
  ["text", "..\\..\\vm\\instances\\7"],
  ["text", "a\\..\\b"],
  ["text", "..;/..;/vm/instances/7"],
  ["text", "..;x"],
  ["text", "%2e%2e"],
  ["text", "a%2f..%2fb"],
  ["text", "%252e%252e%252fvm"],
] as const)("%s is not %s", (type, segment) => expect(found(type, segment)).toBeUndefined());
