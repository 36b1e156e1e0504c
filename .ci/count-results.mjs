// Prints what failed in the JSON results of the test runs, runs a file that failed once more, alone, and ends with the line
// "N passed, N failed". What then passes is flaky: it is named, and more than three such files fail the run.
//
// Usage: node .ci/count-results.mjs COMMAND (EXIT_CODE RESULTS.json)...
//   COMMAND FILE runs one test file and writes its results to $TEST_RESULTS.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const MOST_FLAKY_FILES = 3;

const [command, ...rest] = process.argv.slice(2);
const runs = rest.flatMap((code, index) =>
  index % 2 === 0 ? [{ code: Number(code), path: rest[index + 1] }] : [],
);

/** The result of each test file. A file that could not be loaded counts as one failed test. */
function readResults(path) {
  if (!existsSync(path)) return [];
  return JSON.parse(readFileSync(path, "utf8")).testResults.map(
    ({ name, status, message, assertionResults }) => {
      const withStatus = (...statuses) =>
        assertionResults.filter((result) => statuses.includes(result.status));
      const failures = withStatus("failed").map((test) => [test.fullName, test.failureMessages.join("\n")]);
      if (status === "failed" && failures.length === 0) failures.push(["the file", message]);
      return {
        file: relative(process.cwd(), name),
        passed: withStatus("passed").length,
        skipped: withStatus("skipped", "pending", "todo").length,
        failures,
      };
    },
  );
}

/** Runs one file alone. A run without results, or with an exit code that its results don't explain, failed. */
function runAgain({ file }) {
  console.log(`\nRunning ${file} once more, alone.`);
  const folder = mkdtempSync(join(tmpdir(), "results-"));
  const results = join(folder, "results.json");
  const env = { ...process.env, TEST_RESULTS: results };
  const { status } = spawnSync("bash", ["-c", `${command} "$1"`, "bash", file], { env, stdio: "inherit" });
  const again = readResults(results).find((each) => each.file === file);
  rmSync(folder, { recursive: true, force: true });
  if (again === undefined)
    return { file, passed: 0, skipped: 0, failures: [["the file", "It did not run."]] };
  if (status !== 0 && again.failures.length === 0)
    again.failures.push(["the file", `The run ended with exit code ${status}.`]);
  return again;
}

const printFailures = ({ file, failures }) => {
  for (const [test, text] of failures) console.log(`FAILED ${file}: ${test}\n${text.slice(0, 2000)}\n`);
};

let files = runs.flatMap(({ path }) => readResults(path));
const failedOnce = files.filter(({ failures }) => failures.length > 0);
failedOnce.forEach(printFailures);

/** Runs that failed without a failed test: types or lint before the tests, or an error outside of them. */
const failedRuns = runs.filter(
  ({ code, path }) =>
    !existsSync(path) || (code !== 0 && readResults(path).every((each) => each.failures.length === 0)),
);

const flaky = [];
if (failedRuns.length === 0 && failedOnce.length <= MOST_FLAKY_FILES)
  for (const first of failedOnce) {
    const again = runAgain(first);
    if (again.failures.length === 0) flaky.push(first);
    printFailures(again);
    files = files.map((each) => (each === first ? again : each));
  }

const sum = (count) => files.reduce((total, each) => total + count(each), 0);
const skipped = sum((each) => each.skipped);
const passed = sum((each) => each.passed);
const failed = sum((each) => each.failures.length) + failedRuns.length;

if (failedRuns.length > 0) console.log("A run failed without a failed test: the reason is printed above.");
if (failedOnce.length > MOST_FLAKY_FILES)
  console.log(
    `${failedOnce.length} files failed; files are run once more only where at most ${MOST_FLAKY_FILES} did.`,
  );
for (const { file, failures } of flaky)
  console.log(`FLAKY ${file}: failed, and passed alone: ${failures.map(([test]) => test).join("; ")}`);
if (skipped > 0) console.log(`${skipped} tests were left out: they are named above.`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(passed > 0 && failed === 0 && skipped === 0 ? 0 : 1);
