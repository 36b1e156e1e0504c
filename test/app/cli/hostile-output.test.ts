/** Texts of clients, of v4 and of arguments are printed without what would act on a terminal: see terminal.test.ts, too. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ACTS, FOR_PROGRAMS, HOSTILE, hostileRecord } from "../../audit/record/hostile-record.ts";
import { storeRecords } from "../../audit/record/stored-records.ts";
import { createCommandRunner } from "../../support/command-output.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";

const run = createCommandRunner();

test("replay prints nothing that acts on a terminal, and one line for each difference", async () => {
  const from = join(temporaryFolder(), "audit.ndjson");
  writeFileSync(from, `${JSON.stringify(hostileRecord("one"))}\n`);
  const { out, code } = await run("replay", "--from", from);
  expect(out).not.toMatch(ACTS);
  expect(out).toContain(String.raw`response.x\u001b[2J\u009b2J\u0007\u202e\u000a0 changed: `);
  expect(out).not.toMatch(/^0 changed/m);
  expect(code).toBe(1);
});

test.each([
  [["explain", `GET /vm/instances/${HOSTILE}?a=${HOSTILE}`]],
  [["explain", "GET /vm/instances", "-H", `X-Filter: {"label":"${HOSTILE}"}`]],
  [["check", `/no/${HOSTILE}`]],
  [["replay", "--from", `/no/${HOSTILE}`]],
  [["export", "--format", HOSTILE]],
  [["serve", `--${HOSTILE}`]],
  [[HOSTILE]],
])("the output of %j does not act on a terminal", async (args) => {
  const { out, err } = await run(...args);
  expect(out + err).not.toBe("");
  expect(out + err).not.toMatch(ACTS);
});

test.each(FOR_PROGRAMS)("%s writes texts to a file as they are", async (command) => {
  const folder = await storeRecords(hostileRecord("00000000000000000000000001"));
  const { out } = await run(...command.split(" "), "--data-dir", folder);
  expect(out).toMatch(/\u202e/);
});

test("Markdown, which people read, is escaped in a file, too", async () => {
  const folder = await storeRecords(hostileRecord("00000000000000000000000001"));
  const { out } = await run("report", "--data-dir", folder);
  expect(out).toContain("u202e");
  expect(out).not.toMatch(ACTS);
});
