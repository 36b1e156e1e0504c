/** `check --laws --new FILE`: fields whose types the upstream's responses may break. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { readExamples, EXAMPLES_FOLDER } from "../tools/examples/example.ts";
import { UnreadableDocumentError } from "../tools/impact/flatten-schema.ts";
import { documentOperations } from "../tools/impact/openapi-surface.ts";
import { readOpenapi } from "../tools/impact/read-openapi.ts";
import { checkTypes } from "../tools/laws/counterexamples/type-law.ts";
import type { TypeResult } from "../tools/laws/counterexamples/type-report.ts";
import { describePack } from "../tools/openapi/document.ts";
import { plural } from "../tools/migration-report/outline.ts";
import type { CheckedFolder } from "./check.ts";
import { print } from "./terminal.ts";

/** The documents of both APIs, and whether counterexamples become golden cases. */
export interface TypeFlags {
  readonly new?: string;
  readonly old?: string;
  readonly golden?: true;
  readonly laws?: true;
  readonly seed?: string;
}

/** A result, and the file of its golden case. */
export type CheckedType = TypeResult & { readonly file: string | null };

/** What no flags can mean; undefined if they mean something. */
export function typeFlagsProblem({ laws, new: now, old, golden }: TypeFlags): string | undefined {
  if (!laws && (now ?? old ?? golden) !== undefined) return "--new, --old and --golden belong to --laws";
  if (now !== undefined) return undefined;
  if (old !== undefined)
    return "--old needs --new: the values that are tried come from the document of the new API, and the old one alone has none";
  return golden ? "--golden needs --new, the document of the new API" : undefined;
}

/** Characters of a value that is printed. */
const MAX_VALUE = 400;

/** A value as JSON, as far as a line has room. Nothing is a missing member. */
function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "no value";
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

const nameOf = ({ subject, field }: TypeResult): string => (field === "" ? subject : `${subject}.${field}`);

/** The verdict on a field in one line. */
export function describeType(result: TypeResult): string {
  const { verdict, cases, reason, counterexample } = result;
  const name = nameOf(result);
  if (counterexample) {
    const { route, call, value, actual, expected } = counterexample;
    return `${name} in ${route}: ${call} with ${valueText(value)} gives ${valueText(actual)}, expected ${expected}`;
  }
  if (verdict === "not-tested") return `${name}: not tested: ${reason}`;
  return verdict === "holds"
    ? `${name}: holds: all values were tried`
    : `${name}: no counterexample in ${plural(cases, "case")}`;
}

/** The first lines of a golden case. */
const GOLDEN_HEAD = `# A counterexample of "check --laws": the response that is expected has a value of the right type where the pack gives
# another. Write the value that clients should get, and mend the pack.
`;

/** Writes a golden case, unless there is one already. @returns its file */
function writeGolden(directory: string, { pack }: CheckedFolder, result: TypeResult): string | null {
  const { counterexample } = result;
  if (!counterexample) return null;
  const { route, golden } = counterexample;
  const name = nameOf(result)
    .replaceAll(/[^\w-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const object = pack.route(route)?.object ?? result.subject;
  const file = join(directory, EXAMPLES_FOLDER, object, `counterexample-${name.slice(0, 80)}.yaml`);
  if (existsSync(file)) return file;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${GOLDEN_HEAD}${stringify(golden)}`, { flag: "wx" });
  return file;
}

/** Reads a document, and names it in errors. @throws {UnreadableDocumentError} */
async function readDocument(file: string): Promise<unknown> {
  const document = await readOpenapi(file);
  try {
    documentOperations(document).next();
    return document;
  } catch (error) {
    if (!(error instanceof UnreadableDocumentError)) throw error;
    throw new UnreadableDocumentError(`${file} can't be read. ${error.message}`, { cause: error });
  }
}

/**
 * Holds the fields of a valid pack against the types of the old API.
 *
 * @returns the results; empty without a document of the new API
 * @throws {UnreadableDocumentError} If a document can't be read.
 */
export async function findTypes(
  directory: string,
  checked: CheckedFolder,
  { new: now, old, golden, seed = "1" }: TypeFlags,
): Promise<readonly CheckedType[]> {
  if (now === undefined) return [];
  const { pack, results } = checked;
  const { catalogs } = readExamples(directory, []);
  const generator = await readDocument(now);
  const expected = old === undefined ? describePack(pack, "1") : await readDocument(old);
  const types = await checkTypes(pack, { generator, expected, results, catalogs, seed: Number(seed) });
  return types.map((result) => ({
    ...result,
    file: golden ? writeGolden(directory, checked, result) : null,
  }));
}

/** Prints a line for each field. @returns the number of counterexamples */
export function printTypes(types: readonly CheckedType[], hasOld: boolean): number {
  for (const result of types) print(`type: ${describeType(result)}\n`);
  const files = types.flatMap(({ file }) => file ?? []);
  for (const file of files) print(`golden case: ${file}\n`);
  const broken = types.filter(({ verdict }) => verdict === "counterexample").length;
  const source = hasOld ? "the old document" : "the pack's own description";
  print(`types of ${source}: ${plural(types.length, "verdict")}, ${plural(broken, "counterexample")}\n`);
  return broken;
}
