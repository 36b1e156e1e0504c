/** `check --format json`: what `check` finds, for editors and programs. */
import { checkLaws } from "../tools/check-laws.ts";
import { UnreadableDocumentError } from "../tools/impact/flatten-schema.ts";
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
import { describeType, findTypes, type CheckedType } from "./check-types.ts";
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

/** A problem that is at no place of a file. */
const NOWHERE = { file: null, line: null, column: null, path: [], hint: null } as const;

/** A counterexample as a problem. */
const toTypeProblem = (result: CheckedType): PrintedProblem[] =>
  result.counterexample
    ? [{ ...NOWHERE, code: "type", file: result.file, message: describeType(result) }]
    : [];

/** A verdict without its golden case, which has a file. Members without a value are null. */
const toPrintedType = ({ counterexample, ...result }: CheckedType) => ({
  ...result,
  counterexample: counterexample && {
    ...counterexample,
    golden: undefined,
    actual: counterexample.actual ?? null,
  },
});

/** The laws that do not hold, as problems without a place. Values that clients read otherwise are no problems. */
async function findBrokenLaws(folder: string, seed: number): Promise<PrintedProblem[]> {
  const { findings } = await checkLaws(() => loadPack(folder), { seed, runs: LAW_RUNS });
  return findings.flatMap(({ kind, subject, value, expected, actual }) =>
    kind === "changed"
      ? []
      : [
          {
            ...NOWHERE,
            code: "law",
            message: `${kind}: ${subject}: ${JSON.stringify(value)} gives ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`,
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
 * Checks a pack and prints one JSON document: `problems`, whether there are `more` than those, the `summary` of a valid pack,
 * and with a document of the new API the verdict on the type of each field.
 *
 * @param readFolder Loads the pack and runs its golden cases.
 * @returns the exit code: 1 if there is a problem
 */
export async function printCheck(
  folder: string,
  flags: CheckFlags,
  readFolder: (directory: string) => Promise<CheckedFolder>,
): Promise<number> {
  let problems: readonly PrintedProblem[];
  let types: readonly CheckedType[] | undefined;
  let summary: ReturnType<typeof summarize> | null = null;
  try {
    const checked = await readFolder(folder);
    problems = checked.problems.map(toPrinted);
    if (problems.length === 0) summary = summarize(checked);
    if (problems.length === 0 && flags.laws) {
      if (flags.new !== undefined) types = await findTypes(folder, checked, flags);
      const laws = await findBrokenLaws(folder, Number(flags.seed ?? 1));
      problems = [...laws, ...(types ?? []).flatMap(toTypeProblem)];
    }
  } catch (error) {
    if (error instanceof UnreadableDocumentError)
      problems = [{ ...NOWHERE, code: "unreadable", message: error.message }];
    else if (error instanceof PackError) problems = error.diagnostics.map(toPrinted);
    else throw error;
  }
  const printed = problems.slice(0, MAX_DIAGNOSTICS);
  const more = problems.length > printed.length || printed.length === MAX_DIAGNOSTICS;
  print(
    `${JSON.stringify({ problems: printed, more, summary, ...(types && { types: types.map(toPrintedType) }) }, null, 2)}\n`,
  );
  return problems.length > 0 ? 1 : 0;
}
