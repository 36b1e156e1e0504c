/** Tests with two services start the old one where its log is checked for writes of comparisons. */
import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Tests whose old service is not there, or that start no gateway. */
const WITHOUT = new Set(["base/metrics/dashboard.test.ts", "system/browser/console.test.ts"]);

const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !WITHOUT.has(name),
);

const withTwoServices = files.filter((name) => {
  const text = readFileSync(join("test", name), "utf8");
  return /\bLEGACY_URL: \w/.test(text) && /\bROLLOUT_FILE: \w/.test(text);
});

test("there are tests with two services", () => {
  expect(withTwoServices.length).toBeGreaterThan(5);
});

test.each(withTwoServices)("%s starts its old service with startOldService", (name) => {
  expect(readFileSync(join("test", name), "utf8")).toMatch(/await startOldService\(/);
});
