/**
 * Runs the mutants of `mutants.yaml`: applies one after the other to a copy of the repository, runs its tests there, and
 * prints whether a test failed (killed) or none did (survived). Ends with 1 if more than a tenth survives.
 *
 * With arguments it runs the mutants whose file or text contains one of them.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";

interface Mutant {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
  readonly tests: readonly string[];
}

interface Group {
  readonly tests: readonly string[];
  readonly mutants: readonly Omit<Mutant, "tests">[];
}

const MOST_SURVIVORS = 0.1;

/** A mutant whose tests hang is killed. */
const TIMEOUT_MS = 600_000;

/** A mutant may leave something unused. */
const TYPES = ["-p", "tsconfig.json", "--noUnusedLocals", "false"];

const root = resolve(import.meta.dirname, "../..");

/** Copies all files that belong to the repository. The packages are shared. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), "mutants-"));
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root });
  for (const file of stdout.toString().split("\0").filter(Boolean))
    cpSync(join(root, file), join(copy, file), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const readMutants = (): Mutant[] =>
  (parse(readFileSync(join(import.meta.dirname, "mutants.yaml"), "utf8")) as Group[]).flatMap(
    ({ tests, mutants }) => mutants.map((mutant) => ({ ...mutant, tests })),
  );

const describe = ({ file, text, replacement }: Mutant): string =>
  `${file}\n    - ${text}\n    + ${replacement}`;

/** Whether the code still has the text of a mutant, once. */
const isFound = ({ file, text }: Mutant): boolean =>
  readFileSync(join(root, file), "utf8").split(text).length === 2;

/** Runs a command of the packages. @returns Its output if it fails; undefined if it succeeds. */
function failureOf(folder: string, command: string, args: readonly string[]): string | undefined {
  const path = join(root, "node_modules", ".bin", command);
  const env = { ...process.env, PATH: `${dirname(path)}:${process.env["PATH"]}` };
  const { status, stdout } = spawnSync(path, args, { cwd: folder, env, timeout: TIMEOUT_MS });
  return status === 0 ? undefined : String(stdout);
}

const failureOfTests = (folder: string, tests: readonly string[]): string | undefined =>
  failureOf(folder, "jest", ["--ci", "--bail", ...tests]);

/** Runs a function while the mutants are in the code of a folder. */
function withMutants<T>(folder: string, mutants: readonly Mutant[], run: () => T): T {
  const files = [...new Set(mutants.map(({ file }) => file))];
  for (const { file, text, replacement } of mutants) {
    const path = join(folder, file);
    // A function, since `$` has a meaning in a replacement.
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(text, () => replacement),
    );
  }
  try {
    return run();
  } finally {
    for (const file of files) cpSync(join(root, file), join(folder, file));
  }
}

function runMutants(mutants: readonly Mutant[], folder: string): number {
  const types = withMutants(folder, mutants, () => failureOf(folder, "tsc", TYPES));
  if (types !== undefined) throw new Error(`The code with all mutants does not compile:\n${types}`);
  const tests = failureOfTests(folder, [...new Set(mutants.flatMap((mutant) => mutant.tests))]);
  if (tests !== undefined) throw new Error(`Tests fail without a mutant:\n${tests}`);
  const survivors = mutants.filter((mutant, index) => {
    const survives = withMutants(folder, [mutant], () => failureOfTests(folder, mutant.tests)) === undefined;
    console.log(`${index + 1}/${mutants.length} ${survives ? "SURVIVED" : "killed"} ${describe(mutant)}`);
    return survives;
  });
  console.log(`${mutants.length - survivors.length} of ${mutants.length} mutants are killed.`);
  for (const survivor of survivors) console.log(`survived: ${describe(survivor)}`);
  return survivors.length <= MOST_SURVIVORS * mutants.length ? 0 : 1;
}

function main(words: readonly string[]): number {
  const mutants = readMutants();
  const lost = mutants.filter((mutant) => !isFound(mutant));
  for (const mutant of lost) console.error(`The code does not have this text once: ${describe(mutant)}`);
  if (lost.length > 0) return 1;
  const chosen = mutants.filter(
    ({ file, text }) => words.length === 0 || words.some((word) => `${file} ${text}`.includes(word)),
  );
  if (chosen.length === 0) throw new Error("no mutant has one of these words");
  const folder = copyRepository();
  try {
    return runMutants(chosen, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

process.exitCode = main(process.argv.slice(2));
