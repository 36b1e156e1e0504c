/** `check --format json`: what `check` finds, for editors and programs. */
import { checkLaws } from "../tools/check-laws.ts";
import { coverageOf } from "../tools/examples/coverage.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import {
  MAX_DIAGNOSTICS,
  PackError,
  type Diagnostic,
  type DiagnosticCode,
} from "../mapping/load/diagnostic.ts";
import { summarizePack } from "../mapping/pack-summary.ts";
import { LAW_RUNS, type CheckedFolder, type CheckFlags } from "./check.ts";
import { print } from "./terminal.ts";

/** One problem. Members without a value are null, so that every problem has all of them. */
interface PrintedProblem {
  readonly code: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** The keys and indexes of the value in its file. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string | null;
}

const DEFAULT: DiagnosticCode = "rule";

const toPrinted = ({
  code = DEFAULT,
  file,
  line,
  column,
  path = [],
  message,
  hint,
}: Diagnostic): PrintedProblem => ({
  code,
  file,
  line,
  column,
  path,
  message,
  hint: hint === undefined || hint === "" ? null : hint,
});

/** The laws that do not hold, as problems without a place. Values that clients read otherwise are no problems. */
async function findBrokenLaws(folder: string, seed: number): Promise<PrintedProblem[]> {
  const { findings } = await checkLaws(() => loadPack(folder), { seed, runs: LAW_RUNS });
  return findings.flatMap(({ kind, subject, value, expected, actual }) =>
    kind === "changed"
      ? []
      : [
          {
            code: "law",
            file: null,
            line: null,
            column: null,
            path: [],
            message: `${kind}: ${subject}: ${JSON.stringify(value)} gives ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`,
            hint: null,
          },
        ],
  );
}

/** What the pack covers, as `check` prints it. */
function summarize({ pack, results }: CheckedFolder) {
  const { routes, objects, classes } = summarizePack(pack);
  const { missingRoutes, missingFields } = coverageOf(pack, results);
  return {
    routes: routes.length,
    objects: objects.length,
    fields: objects.reduce((sum, object) => sum + object.fields.length, 0),
    classes,
    examples: results.length,
    withoutExample: [...missingRoutes, ...missingFields],
    openPoints: (pack.surface?.openPoints ?? []).map(({ name, usage }) => ({ name, usage })),
  };
}

/**
 * Checks a pack and prints one JSON document: `problems`, whether there are `more` than those, and the `summary` of a valid
 * pack.
 *
 * @param readFolder Loads the pack and runs its golden cases.
 * @returns the exit code: 1 if there is a problem
 */
export async function printCheck(
  folder: string,
  { laws, seed }: CheckFlags,
  readFolder: (directory: string) => Promise<CheckedFolder>,
): Promise<number> {
  let problems: readonly PrintedProblem[];
  let summary: ReturnType<typeof summarize> | null = null;
  try {
    const checked = await readFolder(folder);
    problems = checked.problems.map(toPrinted);
    if (problems.length === 0) summary = summarize(checked);
    if (problems.length === 0 && laws) problems = await findBrokenLaws(folder, Number(seed ?? 1));
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    problems = error.diagnostics.map(toPrinted);
  }
  const printed = problems.slice(0, MAX_DIAGNOSTICS);
  const more = problems.length > printed.length || printed.length === MAX_DIAGNOSTICS;
  print(`${JSON.stringify({ problems: printed, more, summary }, null, 2)}\n`);
  return problems.length > 0 ? 1 : 0;
}
