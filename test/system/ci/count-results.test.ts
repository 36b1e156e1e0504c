import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";

const SCRIPT = join(import.meta.dirname, "../../../.ci/count-results.mjs");

let folder: string;

beforeEach(() => void (folder = temporaryFolder()));

const result = (file: string, ...statuses: string[]) => ({
  name: join(folder, file),
  status: statuses.includes("failed") ? "failed" : "passed",
  message: "",
  assertionResults: statuses.map((status) => ({
    fullName: `${file} works`,
    status,
    failureMessages: ["wrong"],
  })),
});

/** Counts the results of one run of tests. A file that is run again, alone, gets the statuses of `again`. */
function count(options: {
  readonly results?: readonly object[];
  readonly exitCode?: number;
  readonly again?: Readonly<Record<string, readonly string[]>>;
}) {
  if (options.results !== undefined)
    writeFileSync(join(folder, "results.json"), JSON.stringify({ testResults: options.results }));
  for (const [file, statuses] of Object.entries(options.again ?? {}))
    writeFileSync(
      join(folder, `${file}.again`),
      JSON.stringify({ testResults: [result(file, ...statuses)] }),
    );
  writeFileSync(
    join(folder, "run-one"),
    'echo "$1" >> ran; cp "$1.again" "$TEST_RESULTS"; ! grep -q failed "$1.again"',
  );
  const hasFailed = JSON.stringify(options.results ?? []).includes("failed");
  const exitCode = options.exitCode ?? (hasFailed ? 1 : 0);
  const { status, stdout } = spawnSync(
    process.execPath,
    [SCRIPT, "bash run-one", String(exitCode), "results.json"],
    { cwd: folder, encoding: "utf8" },
  );
  const ranAgain = existsSync(join(folder, "ran"))
    ? readFileSync(join(folder, "ran"), "utf8").trim().split("\n")
    : [];
  const lines = stdout.trim().split("\n");
  return { status, ranAgain, last: lines.at(-1), flaky: lines.filter((line) => line.startsWith("FLAKY")) };
}

describe("counting the results of CI", () => {
  test("passes a run without a failure", () => {
    expect(count({ results: [result("a.test.ts", "passed", "passed")] })).toEqual({
      status: 0,
      ranAgain: [],
      last: "2 passed, 0 failed",
      flaky: [],
    });
  });

  test("names a file as flaky that failed, and passed when it ran once more, alone", () => {
    const results = [result("a.test.ts", "passed", "failed"), result("b.test.ts", "passed")];
    expect(count({ results, again: { "a.test.ts": ["passed", "passed"] } })).toEqual({
      status: 0,
      ranAgain: ["a.test.ts"],
      last: "3 passed, 0 failed",
      flaky: ["FLAKY a.test.ts: failed, and passed alone: a.test.ts works"],
    });
  });

  test("fails a run in which a file failed twice", () => {
    const results = [result("a.test.ts", "failed")];
    expect(count({ results, again: { "a.test.ts": ["failed"] } })).toMatchObject({
      status: 1,
      last: "0 passed, 1 failed",
      flaky: [],
    });
  });

  test("fails a run in which more than three files failed, and runs none of them once more", () => {
    const names = ["a.test.ts", "b.test.ts", "c.test.ts", "d.test.ts"];
    const results = [...names.map((name) => result(name, "failed")), result("e.test.ts", "passed")];
    expect(count({ results })).toMatchObject({ status: 1, ranAgain: [], last: "1 passed, 4 failed" });
  });

  test("fails a run that left out a test", () => {
    expect(count({ results: [result("a.test.ts", "passed", "skipped")] }).status).toBe(1);
  });

  test("fails a run that ended before its tests", () => {
    expect(count({ exitCode: 1 })).toMatchObject({ status: 1, last: "0 passed, 1 failed" });
  });

  test("fails a run that ended with an error outside of its tests", () => {
    expect(count({ results: [result("a.test.ts", "passed")], exitCode: 1 })).toMatchObject({
      status: 1,
      last: "1 passed, 1 failed",
    });
  });
});
