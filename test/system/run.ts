/**
 * Runs the tests of whole processes: `npm run test:system`. They run the packed package, installed in a folder elsewhere;
 * with `--source`, for development, the sources. Other arguments go to the test runner.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { addOpenTelemetry, installPackage, programIn } from "./install-package.ts";

const args = process.argv.slice(2).filter((argument) => argument !== "--source");
const place = process.argv.includes("--source") ? undefined : await installPackage();
const traced = place === undefined ? undefined : addOpenTelemetry(place);
const environment =
  place === undefined || traced === undefined
    ? {}
    : {
        TESTED_PACKAGE: place,
        TESTED_PROGRAM: programIn(place),
        TESTED_PROGRAM_WITH_OPENTELEMETRY: programIn(traced),
      };

/** Runs the tests of a project. @returns the exit code */
function run(project: string, ...options: readonly string[]): number {
  const results = process.env["TEST_RESULTS"];
  const json = results === undefined ? [] : ["--json", `--outputFile=${resultsOf(results, project)}`];
  const { status } = spawnSync(
    "jest",
    ["--selectProjects", project, ...options, ...json, "--passWithNoTests", ...args],
    { env: { ...process.env, ...environment }, stdio: "inherit" },
  );
  return status ?? 1;
}

const resultsOf = (path: string, project: string): string => `${path}.${project}`;

/** Writes the results of several projects as those of one run; none if one ended without results. */
function joinResults(path: string, projects: readonly string[]): void {
  const files = projects.map((project) => resultsOf(path, project));
  if (!files.every((file) => existsSync(file))) return;
  const testResults = files.flatMap((file): unknown[] => JSON.parse(readFileSync(file, "utf8")).testResults);
  writeFileSync(path, JSON.stringify({ testResults }));
}

const statuses = [run("system"), run("system-alone", "--runInBand")];
if (process.env["TEST_RESULTS"] !== undefined)
  joinResults(process.env["TEST_RESULTS"], ["system", "system-alone"]);
for (const folder of [place, traced]) if (folder !== undefined) rmSync(folder, { recursive: true });
process.exitCode = Math.max(...statuses);
