import { describe, expect, test } from "@jest/globals";
import { createRouter, parseSegment, type ParameterType } from "../../../src/pack/paths/router.ts";

/** What a path parameter of a type is, found in a path; undefined where no route is. */
function found(type: ParameterType, segment: string): string | undefined {
  const router = createRouter<string>();
  router.add("GET", { segments: ["hosts", { parameter: "host", type }] }, "route");
  return router.match("GET", ["hosts", segment])?.parameters["host"];
}

describe("a segment with text around its parameters", () => {
  /** The parameters that a pattern finds in a segment; undefined if it does not match. */
  const parametersOf = (pattern: string, segment: string) => {
    const router = createRouter<string>();
    const types: Readonly<Record<string, ParameterType>> = { n: "integer" };
    router.add("GET", { segments: [parseSegment(pattern, (name) => types[name] ?? "text")] }, "route");
    return router.match("GET", [segment])?.parameters;
  };

  test.each([
    [":id.json", "a.json", { id: "a" }],
    ["{id}:archive", "a:archive", { id: "a" }],
    ["report-{n}", "report-7", { n: "7" }],
    ["{a}-{b}", "x-y-z", { a: "x", b: "y-z" }],
    ["{a}..{b}.csv", "1..2.csv", { a: "1", b: "2" }],
  ])("%s matches %s", (pattern, segment, expected) =>
    expect(parametersOf(pattern, segment)).toEqual(expected),
  );

  test.each([
    [":id.json", "a.xml"],
    [":id.json", ".json"],
    ["report-{n}", "report-x"],
    ["report-{n}", "report-"],
    ["{a}-{b}", "x-"],
    ["{a}-{b}", "-y"],
    ["ab{a}ba", "aba"],
  ])("%s does not match %s", (pattern, segment) => expect(parametersOf(pattern, segment)).toBeUndefined());

  test("is tried after a literal segment and before a parameter, with more text first", () => {
    const router = createRouter<string>();
    for (const pattern of [":id", "{id}.json", "{id}.min.json", "a.min.json"])
      router.add("GET", { segments: [parseSegment(pattern, () => "text")] }, pattern);
    const routeOf = (segment: string) => router.match("GET", [segment])?.route;
    expect(["a", "a.json", "b.min.json", "a.min.json"].map(routeOf)).toEqual([
      ":id",
      "{id}.json",
      "{id}.min.json",
      "a.min.json",
    ]);
  });
});

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
