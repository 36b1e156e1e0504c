/** Forms of a real console send integers as text: every integer member of a body takes a string of digits (T-2.5). */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { isObject } from "../../src/base/json/parse.ts";
import type { BodyRules } from "../../src/pack/bodies/body.ts";
import { compileGetter, compileSetter } from "../../src/pack/values/member-paths.ts";
import type { JsonObject } from "../../src/pack/translation-context.ts";
import { packIn } from "../support/packs.ts";

type Schema = Readonly<Record<string, unknown>>;
const pack = packIn("mappings");

const hasType = ({ type }: Schema, name: string): boolean => [type].flat().includes(name);

/** Dotted names of integer members; of those in lists nothing, here. */
function integers(schema: Schema, path: readonly string[] = []): string[] {
  const { properties } = schema;
  if (!isObject(properties)) return hasType(schema, "integer") ? [path.join(".")] : [];
  return Object.entries(properties).flatMap(([name, member]) => integers(member as Schema, [...path, name]));
}

const cases = pack.routes.flatMap(({ name, body }) =>
  body ? integers(body.schema).map((member): [string, string, BodyRules] => [name, member, body]) : [],
);

function checkMember(
  body: BodyRules,
  member: string,
  value: unknown,
): { value: unknown; isRejected: boolean } {
  const sent: JsonObject = {};
  compileSetter(member)(sent, value);
  const normal = body.normalise(sent);
  const faults = [...normal.faults, ...body.check(normal.body)];
  return {
    value: compileGetter(member)(normal.body),
    isRejected: faults.some(({ field = "" }) => field === member),
  };
}

test("the pack has integers", () => {
  expect(cases.length).toBeGreaterThan(40);
});

describe.each(cases)("%s, %s", (_route, member, body) => {
  let isText: boolean;
  beforeAll(() => {
    isText = checkMember(body, member, "30141").value === "30141";
  });

  test("T-2.5 accepts a string of digits", () => {
    for (const [digits, number] of [
      ["3", 3],
      ["0010", 10],
    ] as const) {
      const asText = checkMember(body, member, digits);
      const asNumber = checkMember(body, member, number);
      expect(asText.isRejected).toBe(asNumber.isRejected);
      expect(asText.value).toBe(isText ? digits : number);
    }
  });

  test("accepts no other string", () => {
    const long = "9".repeat(400);
    for (const value of ["-3", "+3", "3.0", "1e3", " 3", "0x3", "", "٣", "9007199254740993", long, true, [3]])
      expect([
        value,
        checkMember(body, member, value).isRejected || (isText && value === "9007199254740993"),
      ]).toEqual([value, true]);
  });
});
