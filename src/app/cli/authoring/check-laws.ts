/** `check --laws`: checks a pack with generated values, and prints what that finds. */
import { checkLaws, type FieldVerdict, type LawFinding, type TypeReport } from "../../../authoring/index.ts";
import { loadPack } from "../../../pack/index.ts";
import { plural } from "../../../base/index.ts";
import type { CheckedFolder, CheckFlags } from "./checked-folder.ts";
import { print } from "../terminal.ts";

/** Values of each member and object that the laws are checked with. */
const LAW_RUNS = 50;

/** What the laws found. */
export interface CheckedLaws {
  readonly seed: number;
  readonly cases: number;
  readonly untested: readonly string[];
  readonly findings: readonly LawFinding[];
  /** Undefined without a document of the upstream. */
  readonly types: TypeReport | undefined;
  /** The golden cases that were written. */
  readonly golden: readonly string[];
}

/**
 * Checks the laws of a pack with generated values, and its types with the documents.
 *
 * @throws {UnreadableDocumentError} {OtherServiceError}
 */
export async function runLaws(
  folder: string,
  flags: CheckFlags,
  checked: CheckedFolder,
): Promise<CheckedLaws> {
  const seed = Number(flags.seed ?? 1);
  const options = { seed, runs: LAW_RUNS };
  const laws = await checkLaws(() => loadPack(folder), options);
  if (flags.new === undefined) return { ...laws, seed, types: undefined, golden: [] };
  const { checkDocuments, writeCounterexamples } = await import("../../../authoring/index.ts");
  const types = await checkDocuments(folder, checked, { new: flags.new, old: flags.old }, options);
  return { ...laws, seed, types, golden: flags.golden ? writeCounterexamples(folder, types) : [] };
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** The finding of a law, as a sentence. */
export const lawText = ({ kind, subject, value, expected, actual }: LawFinding): string =>
  `${kind}: ${subject}: ${jsonOf(value)} gives ${jsonOf(actual)}, expected ${jsonOf(expected)}`;

/** What was found out about a field, as a sentence. */
export function fieldText({ field, routes, verdict, cases, counterexample }: FieldVerdict): string {
  if (counterexample) {
    const { route, operation, answer, actual, expected } = counterexample;
    return `type: ${field}: ${jsonOf(answer)} of ${operation} gives ${jsonOf(actual)}, expected ${expected} (${route})`;
  }
  const [first = "", ...others] = routes;
  const where = others.length > 0 ? `${first} and ${plural(others.length, "other route")}` : first;
  return `${field}: ${verdict === "holds" ? "holds" : `no counterexample in ${plural(cases, "case")}`} (${where})`;
}

function printTypes({ cases, fields, untested }: TypeReport, golden: readonly string[]): void {
  const broken = fields.filter(({ counterexample }) => counterexample !== undefined);
  const others = fields.filter(({ counterexample }) => counterexample === undefined);
  for (const field of [...others, ...broken]) print(`${fieldText(field)}\n`);
  for (const each of untested) print(`not tested: ${each}\n`);
  for (const file of golden) print(`wrote ${file}\n`);
  const holding = others.filter(({ verdict }) => verdict === "holds").length;
  print(
    `types: ${plural(fields.length, "field")} in ${plural(cases, "case")}: ${holding} hold, ${others.length - holding} without a counterexample, ${broken.length} with one\n`,
  );
}

/** Checks the laws and prints what they find. @returns the exit code */
export async function checkPackLaws(
  folder: string,
  flags: CheckFlags,
  checked: CheckedFolder,
): Promise<number> {
  const { seed, cases, untested, findings, types, golden } = await runLaws(folder, flags, checked);
  for (const finding of findings) print(`${lawText(finding)}\n`);
  for (const member of untested) print(`not tested: ${member}\n`);
  const problems = findings.filter(({ kind }) => kind !== "changed").length;
  const changed = findings.length - problems;
  print(
    `${plural(cases, "case")} with seed ${seed}, ${plural(problems, "problem")}, ${plural(changed, "member")} with changed values\n`,
  );
  if (types) printTypes(types, golden);
  const isBroken = types?.fields.some(({ counterexample }) => counterexample !== undefined) === true;
  return problems > 0 || isBroken ? 1 : 0;
}
