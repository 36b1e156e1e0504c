/** `check --format json`: the results of `check`, for editors and programs. */
import { coverageOf, type FieldVerdict, type TypeReport } from "../../../../authoring/index.ts";
import { type Diagnostic, type DiagnosticCode, MAX_DIAGNOSTICS, PackError } from "../../../../base/index.ts";
import { summarizePack } from "../../../../pack/index.ts";
import { type CheckedFolder, type CheckFlags, readFolder } from "./checked-folder.ts";
import { fieldText, lawText, runLaws, type CheckedLaws } from "./check-laws.ts";
import { print } from "../../terminal.ts";

const DEFAULT: DiagnosticCode = "rule";

/**
 * Converts a problem to its printed form. Members without a value are null, so that every problem contains all members.
 * A problem of a law has no file and line.
 */
const toPrinted = ({
  code = DEFAULT,
  file,
  line,
  column,
  path = [],
  message,
  hint,
}: Pick<Diagnostic, "message"> & { readonly code?: string } & Partial<Omit<Diagnostic, "code">>) => ({
  code,
  file: file ?? null,
  line: line ?? null,
  column: column ?? null,
  /** The keys and indexes of the value in its file. */
  path,
  message,
  hint: hint === undefined || hint === "" ? null : hint,
});

type PrintedProblem = ReturnType<typeof toPrinted>;

/** Returns the results of laws and types as problems. A value that a client reads in a different form is not a problem. */
const problemsOf = ({ findings, types }: CheckedLaws): PrintedProblem[] => [
  ...findings.flatMap((finding) =>
    finding.kind === "changed" ? [] : [toPrinted({ code: "law", message: lawText(finding) })],
  ),
  ...(types?.fields ?? []).flatMap((field) =>
    field.counterexample ? [toPrinted({ code: "type", message: fieldText(field) })] : [],
  ),
];

/** Returns the result for a field in the law of types. */
function printedField({ field, routes, verdict, cases, counterexample }: FieldVerdict) {
  const { golden: _golden, actual = null, ...found } = counterexample ?? {};
  return {
    field,
    routes,
    verdict: verdict.replaceAll(" ", "-"),
    cases,
    counterexample: counterexample ? { ...found, actual } : null,
  };
}

const printedTypes = ({ cases, fields, untested }: TypeReport) => ({
  cases,
  fields: fields.map(printedField),
  untested,
});

/** Returns the coverage of the pack, as `check` prints it. */
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
 * Checks a pack and prints one JSON document: `problems`, whether there are `more` than those, the `summary` of a valid
 * pack, and, if there is a document of the upstream, the results for the `types` of its fields.
 *
 * @returns the exit code: 1 if there is a problem
 */
export async function printCheck(folder: string, flags: CheckFlags): Promise<number> {
  let problems: readonly PrintedProblem[];
  let summary: ReturnType<typeof summarize> | null = null;
  let types: ReturnType<typeof printedTypes> | undefined;
  try {
    const checked = await readFolder(folder);
    problems = checked.problems.map((problem) => toPrinted(problem));
    if (problems.length === 0) summary = summarize(checked);
    if (problems.length === 0 && flags.laws) {
      const found = await runLaws(folder, flags, checked);
      problems = problemsOf(found);
      types = found.types && printedTypes(found.types);
    }
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    problems = error.diagnostics.map((problem) => toPrinted(problem));
  }
  const printed = problems.slice(0, MAX_DIAGNOSTICS);
  const more = problems.length > printed.length || printed.length === MAX_DIAGNOSTICS;
  print(`${JSON.stringify({ problems: printed, more, summary, types }, null, 2)}\n`);
  return problems.length > 0 ? 1 : 0;
}
