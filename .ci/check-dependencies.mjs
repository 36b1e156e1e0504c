// Checks what an installation without development dependencies has: each package's licence must be one of LICENCES, and
// `npm audit` must know of no vulnerability that is high or critical. Where the registry doesn't answer, the audit is left out.
//
// Usage: node .ci/check-dependencies.mjs [MILLISECONDS that the audit may take]
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** They ask for a notice at most. A package with another one needs a decision, and then its licence here. */
const LICENCES = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
];

/** What is wrong with the licences of the packages in package-lock.json. */
function findLicences() {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  return Object.entries(packages)
    .filter(([path, { dev, license }]) => path !== "" && !dev && !LICENCES.includes(license))
    .map(([path, { license }]) => {
      const name = path.replace(/^.*node_modules\//, "");
      return license === undefined
        ? `${name} names no licence`
        : `${name} has the licence ${license}, which is not one of ${LICENCES.join(", ")}`;
    });
}

/** The report or the error that `npm audit` writes as JSON. */
function readReport(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** The vulnerabilities that the registry knows of. */
function findVulnerabilities(timeout) {
  const command = ["audit", "--omit=dev", "--audit-level=high", "--json"];
  const { error, stdout } = spawnSync("npm", command, { encoding: "utf8", timeout });
  const { vulnerabilities, message } = readReport(stdout);
  if (vulnerabilities === undefined) {
    const reason = error?.message ?? message ?? "npm wrote no report";
    console.log(`npm audit was left out, since the registry did not answer: ${reason.split("\n")[0]}`);
    return [];
  }
  return Object.values(vulnerabilities)
    .filter(({ severity }) => severity === "high" || severity === "critical")
    .map(({ name, severity, range }) => `${name} ${range} has a ${severity} vulnerability: see npm audit`);
}

const findings = [...findLicences(), ...findVulnerabilities(Number(process.argv[2] ?? 30_000))];
for (const finding of findings) console.log(`REFUSED ${finding}`);
process.exitCode = findings.length === 0 ? 0 : 1;
