import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { compile, ExpressionError } from "../../src/jsonata/index.ts";

/** Everything in the pack's files that could be an expression: its strings. */
function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

const sources = readdirSync("mappings")
  .filter((name) => name.endsWith(".yaml"))
  .flatMap((name) => strings(parse(readFileSync(join("mappings", name), "utf8"))))
  .filter((text) => /[$({["?]/.test(text));

function reason(source: string): string | undefined {
  try {
    return compile(source).fallback;
  } catch (error) {
    // Not every string is an expression.
    if (error instanceof ExpressionError && error.jsonataCode.startsWith("S0")) return undefined;
    throw error;
  }
}

test("every expression of the pack is compiled", () => {
  expect(sources).toContain("$floor($related.transfer.used / 1073741824)");
  expect(sources.filter((source) => reason(source) !== undefined)).toEqual([]);
});
