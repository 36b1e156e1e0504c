import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";

const SCRIPT = join(import.meta.dirname, "../../../.ci/check-dependencies.mjs");

/** What npm writes if there is no vulnerability, and if the registry has no such endpoint. */
const CLEAN = 'echo \'{"auditReportVersion":2,"vulnerabilities":{}}\'';
const NO_ANSWER = 'echo \'{"message":"404 Not Found - POST /bulk","statusCode":404}\'; exit 1';

const reportOf = (...severities: readonly string[]): string =>
  JSON.stringify({
    vulnerabilities: Object.fromEntries(
      severities.map((severity) => [
        `${severity}-package`,
        { name: `${severity}-package`, severity, range: "<2.0.0" },
      ]),
    ),
  });

let folder: string;

beforeEach(() => void (folder = temporaryFolder()));

/** Checks an installation of `packages`, where `npm` is a shell script. */
function check(options: {
  readonly packages?: Readonly<Record<string, object>>;
  readonly npm?: string;
  readonly timeoutMs?: number;
}) {
  const { packages = {}, npm = CLEAN, timeoutMs = 30_000 } = options;
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ packages: { "": {}, ...packages } }));
  writeFileSync(join(folder, "npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, String(timeoutMs)], {
    cwd: folder,
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` },
    encoding: "utf8",
  });
  return { status, lines: stdout.trim().split("\n").filter(Boolean) };
}

describe("licences", () => {
  test("permits packages with a licence of the list", () => {
    const packages = {
      "node_modules/one": { license: "MIT" },
      "node_modules/@scope/two": { license: "Apache-2.0" },
    };
    expect(check({ packages })).toEqual({ status: 0, lines: [] });
  });

  test("refuses a package with another licence, and names it", () => {
    const packages = { "node_modules/one/node_modules/@scope/two": { license: "AGPL-3.0-only" } };
    expect(check({ packages })).toEqual({
      status: 1,
      lines: [expect.stringMatching(/^REFUSED @scope\/two has the licence AGPL-3\.0-only/)],
    });
  });

  test("refuses a package without a licence", () => {
    expect(check({ packages: { "node_modules/one": {} } })).toEqual({
      status: 1,
      lines: ["REFUSED one names no licence"],
    });
  });

  test("ignores packages for development alone", () => {
    const packages = { "node_modules/one": { license: "MPL-2.0", dev: true } };
    expect(check({ packages })).toEqual({ status: 0, lines: [] });
  });
});

describe("npm audit", () => {
  test.each(["high", "critical"])("refuses a package with a %s vulnerability", (severity) => {
    expect(check({ npm: `echo '${reportOf("low", severity)}'; exit 1` })).toEqual({
      status: 1,
      lines: [`REFUSED ${severity}-package <2.0.0 has a ${severity} vulnerability: see npm audit`],
    });
  });

  test("permits lower vulnerabilities", () => {
    expect(check({ npm: `echo '${reportOf("low", "moderate")}'` })).toEqual({ status: 0, lines: [] });
  });

  test("is left out with a line where the registry does not answer", () => {
    expect(check({ npm: NO_ANSWER })).toEqual({
      status: 0,
      lines: ["npm audit was left out, since the registry did not answer: 404 Not Found - POST /bulk"],
    });
  });

  test("is left out with a line where the registry does not answer in time", () => {
    expect(check({ npm: "exec sleep 600", timeoutMs: 1000 })).toEqual({
      status: 0,
      lines: [
        expect.stringMatching(/^npm audit was left out, since the registry did not answer: .*ETIMEDOUT/),
      ],
    });
  });

  test("checks licences also where the registry does not answer", () => {
    expect(check({ packages: { "node_modules/one": {} }, npm: NO_ANSWER }).status).toBe(1);
  });
});

test("the repository's own dependencies have permitted licences", () => {
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, "1"], {
    cwd: join(SCRIPT, "../.."),
    encoding: "utf8",
  });
  expect({ status, refused: stdout.match(/^REFUSED.*/gm) }).toEqual({ status: 0, refused: null });
});
