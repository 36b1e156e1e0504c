/** The search for the most expensive request, `npm run fuzz -- worst`, in short form. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { HEADING } from "../../../fuzz/worst/section.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";

test("npm run fuzz -- worst measures a gateway and writes the table and the section", () => {
  const folder = temporaryFolder();
  const page = join(folder, "inputs.md");
  writeFileSync(page, "# Hostile input\n");
  const args = ["fuzz/main.ts", "worst", "--only", "POST /feedback query", "--runs", "20", "--page", page];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  // 1: something costs too much, which a busy machine alone must not turn into a failure here.
  expect({ ended: status === 0 || status === 1, stderr }).toMatchObject({ ended: true });
  expect(readFileSync(page, "utf8")).toContain(`${HEADING}\n`);
  expect(readFileSync(join(folder, "costs.tsv"), "utf8")).toMatch(
    /\nPOST \/feedback\t[\d.]+\tquery: .*\t[\d.]+\tquery: .*\n$/,
  );
}, 120_000);
