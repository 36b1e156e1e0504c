/** The doc comments of the public API. `test/system/e2e/package.test.ts` compiles their examples. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

const exported = [
  ...readFileSync("src/index.ts", "utf8").matchAll(/^export \{([^}]+)\} from "\.\/(.+)";/gm),
].flatMap(([, names = "", path = ""]) =>
  names
    .split(",")
    .map((name) => ({ name: name.replace("type", "").trim(), path }))
    .filter(({ name }) => name !== ""),
);

describe("the public API", () => {
  test("has functions, types and error classes", () => {
    expect(exported.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["alphaGateway", "createGateway", "loadPack", "GatewayOptions", "PackError"]),
    );
  });

  test.each(exported)("$name has a doc comment with an example", ({ name, path }) => {
    const source = readFileSync(join("src", path), "utf8");
    const [comment = ""] =
      source.match(new RegExp(`\\/\\*\\*(?:(?!\\*\\/)[^])*\\*\\/\\nexport (?:\\w+ )+${name}\\b`)) ?? [];
    expect(comment).toContain("@example");
    expect(comment).toContain('from "alpha-gateway";');
  });
});
