/** `check --laws`: checks a pack with generated values, and prints the results. */
import {
  checkDocuments,
  type FieldVerdict,
  type LawFinding,
  loadLaws,
  type TypeReport,
  writeCounterexamples,
} from "../../../../authoring/index.ts";
import { type Block, type Item, plural } from "../../../../base/index.ts";
import type { CheckedFolder, CheckFlags } from "./checked-folder.ts";
import { printBlocks } from "../../terminal.ts";

/** Number of generated values for each member and object. */
const LAW_RUNS = 50;

/** The results of the laws. */
export type CheckedLaws = Awaited<ReturnType<typeof runLaws>>;

/**
 * Checks the laws of a pack with generated values, and its types with the documents.
 *
 * @throws {UnreadableDocumentError} {OtherServiceError}
 */
export async function runLaws(folder: string, flags: CheckFlags, checked: CheckedFolder) {
  const { seed: text = "1", new: now, old } = flags;
  const seed = Number(text);
  const options = { seed, runs: LAW_RUNS };
  const { checkLaws } = await loadLaws();
  const laws = await checkLaws(checked.pack, options);
  /** The result for the documents; undefined if the upstream has none. */
  const types =
    now === undefined ? undefined : await checkDocuments(folder, checked, { new: now, old }, options);
  /** The golden cases that were written. */
  const golden = types && flags.golden ? writeCounterexamples(folder, types) : [];
  return { ...laws, seed, types, golden };
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** Formats the finding of a law as a sentence. */
export const lawText = ({ kind, subject, value, expected, actual }: LawFinding): string =>
  `${kind}: ${subject}: ${jsonOf(value)} gives ${jsonOf(actual)}, expected ${jsonOf(expected)}`;

/** Formats the result for one field as a sentence. */
export function fieldText({ field, routes, verdict, cases, counterexample }: FieldVerdict): string {
  if (counterexample) {
    const { route, operation, answer, actual, expected } = counterexample;
    return `type: ${field}: ${jsonOf(answer)} of ${operation} gives ${jsonOf(actual)}, expected ${expected} (${route})`;
  }
  const [first = "", ...others] = routes;
  const where = others.length > 0 ? `${first} and ${plural(others.length, "other route")}` : first;
  return `${field}: ${verdict === "holds" ? "holds" : `no counterexample in ${plural(cases, "case")}`} (${where})`;
}

/** Lists the results for all fields, one line each, and a summary. */
function outlineTypes({ cases, fields, untested }: TypeReport, golden: readonly string[]): Item[] {
  const broken = fields.filter(({ counterexample }) => counterexample !== undefined);
  const others = fields.filter(({ counterexample }) => counterexample === undefined);
  const holding = others.filter(({ verdict }) => verdict === "holds").length;
  return [
    ...[...others, ...broken].map(fieldText),
    ...untested.map((each) => `not tested: ${each}`),
    ...golden.map((file) => `wrote ${file}`),
    `types: ${plural(fields.length, "field")} in ${plural(cases, "case")}: ${holding} hold, ${others.length - holding} without a counterexample, ${broken.length} with one`,
  ];
}

/** Lists the results of the laws, as blocks. */
function outlineLaws({ seed, cases, untested, findings, types, golden }: CheckedLaws): Block[] {
  const problems = findings.filter(({ kind }) => kind !== "changed").length;
  const changed = plural(findings.length - problems, "member");
  const items: Item[] = [
    ...findings.map(lawText),
    ...untested.map((member) => `not tested: ${member}`),
    `${plural(cases, "case")} with seed ${seed}, ${plural(problems, "problem")}, ${changed} with changed values`,
    ...(types ? outlineTypes(types, golden) : []),
  ];
  return [{ kind: "list", items }];
}

/** Checks the laws and prints the results. @returns the exit code */
export async function checkPackLaws(
  folder: string,
  flags: CheckFlags,
  checked: CheckedFolder,
): Promise<number> {
  const found = await runLaws(folder, flags, checked);
  printBlocks(outlineLaws(found));
  const isBroken = found.types?.fields.some(({ counterexample }) => counterexample !== undefined) === true;
  return isBroken || found.findings.some(({ kind }) => kind !== "changed") ? 1 : 0;
}
