/** The package as npm makes and installs it: packed, and installed from the tarball into a folder elsewhere. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const REPOSITORY = join(import.meta.dirname, "..", "..");

/** What the package is built of. */
const SOURCES = [
  "bin",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "api-extractor.json",
  "src",
  "mappings",
  "schema",
  "LICENSE",
  "README.md",
];

interface Packed {
  readonly filename: string;
  readonly integrity: string;
  readonly version: string;
}

/** Builds and packs it in a folder. */
async function pack(source: string): Promise<Packed> {
  for (const name of SOURCES) cpSync(join(REPOSITORY, name), join(source, name), { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules"), join(source, "node_modules"));
  await execute("npm", ["run", "build"], { cwd: source });
  const { stdout } = await execute("npm", ["pack", "--json", "--ignore-scripts"], { cwd: source });
  const [packed] = JSON.parse(stdout) as [Packed];
  return packed;
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** A lock file with the package and its dependencies, in the versions of this repository. */
function lockOf({ filename, integrity, version }: Packed): object {
  const read = (name: string) => JSON.parse(readFileSync(join(REPOSITORY, name), "utf8"));
  const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };
  const { dependencies, peerDependencies, peerDependenciesMeta, bin, engines } = read("package.json");
  const used = Object.entries(packages).filter(
    ([path, { dev, devOptional }]) => path && !dev && !devOptional,
  );
  const resolved = `file:${filename}`;
  return {
    name: "place",
    lockfileVersion: 3,
    packages: {
      "": { name: "place", dependencies: { "alpha-gateway": resolved } },
      "node_modules/alpha-gateway": {
        version,
        resolved,
        integrity,
        dependencies,
        peerDependencies,
        peerDependenciesMeta,
        bin,
        engines,
      },
      ...Object.fromEntries(used),
    },
  };
}

/**
 * Packs the repository and installs the tarball in a new folder, without OpenTelemetry's packages.
 *
 * @returns The folder. The tarball is in it, too.
 */
export async function installPackage(): Promise<string> {
  const source = mkdtempSync(join(tmpdir(), "alpha-gateway-source-"));
  const place = mkdtempSync(join(tmpdir(), "alpha-gateway-installed-"));
  const packed = await pack(source);
  cpSync(join(source, packed.filename), join(place, packed.filename));
  rmSync(source, { recursive: true });
  const dependencies = { "alpha-gateway": `file:${packed.filename}` };
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "place", type: "module", dependencies }));
  writeFileSync(join(place, "package-lock.json"), JSON.stringify(lockOf(packed)));
  await execute("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: place });
  return place;
}

/** Copies a folder with the package, and adds OpenTelemetry's packages. @returns The new folder. */
export function addOpenTelemetry(place: string): string {
  const copy = mkdtempSync(join(tmpdir(), "alpha-gateway-traced-"));
  cpSync(place, copy, { recursive: true, verbatimSymlinks: true });
  const scope = join("node_modules", "@opentelemetry");
  cpSync(join(REPOSITORY, scope), join(copy, scope), { recursive: true });
  return copy;
}

/** The program of the package that is installed in a folder. */
export const programIn = (place: string): string =>
  join(place, "node_modules", "alpha-gateway", "dist", "main.js");
