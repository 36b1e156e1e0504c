/** The doc comments of the public API. `test/system/e2e/package.test.ts` compiles their examples. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { publicApi } from "../support/public-api.ts";

/** Types that a program meets in other types, and seldom names itself. */
const OF_OTHERS = new Set([
  "AuditPage",
  "AuditQuery",
  "AuditReader",
  "AuditRecord",
  "GatewayControls",
  "GatewayLogger",
  "HostRegistry",
  "HostTracer",
]);

const exported = publicApi().filter(({ name }) => !OF_OTHERS.has(name));

describe("the public API", () => {
  test("has functions, types and error classes", () => {
    expect(exported.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["alphaGateway", "createGateway", "loadPack", "GatewayOptions", "PackError"]),
    );
  });

  test("has a doc comment with an example for each of them", () => {
    const hasExample = ({ name, path }: (typeof exported)[number]): boolean => {
      const comment = new RegExp(`\\/\\*\\*(?:(?!\\*\\/)[^])*\\*\\/\\nexport (?:\\w+ )+${name}\\b`);
      const [text = ""] = readFileSync(path, "utf8").match(comment) ?? [];
      return text.includes("@example") && text.includes('from "alpha-gateway";');
    };
    expect(exported.filter((each) => !hasExample(each))).toEqual([]);
  });
});
