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

  test.each(exported)("$name has a doc comment with an example", ({ name, path }) => {
    const source = readFileSync(path, "utf8");
    const [comment = ""] =
      source.match(new RegExp(`\\/\\*\\*(?:(?!\\*\\/)[^])*\\*\\/\\nexport (?:\\w+ )+${name}\\b`)) ?? [];
    expect(comment).toContain("@example");
    expect(comment).toContain('from "alpha-gateway";');
  });
});
