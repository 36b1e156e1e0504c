/**
 * Runs the tests of whole processes: `npm run test:system`. They run the packed package, installed in a folder elsewhere;
 * with `--source`, for development, the sources. Other arguments go to the test runner.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
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
const { status } = spawnSync("vitest", ["run", "--project", "system*", ...args], {
  env: { ...process.env, ...environment },
  stdio: "inherit",
});
for (const folder of [place, traced]) if (folder !== undefined) rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
