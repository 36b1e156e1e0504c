/** The options of `check` for a folder, and its result. */
import { loadPack, type Pack } from "../../../../pack/index.ts";
import { collectExpressions } from "../../../../jsonata/index.ts";
import {
  compareExamples,
  diagnosticsOf,
  findLeftOutRows,
  findUnknownLists,
  readExamples,
  updateExamples,
} from "../../../../authoring/index.ts";
import { type Diagnostic, plural } from "../../../../base/index.ts";
import { print } from "../../terminal.ts";

/** The flags of `check`. */
export interface CheckFlags {
  readonly emit?: true;
  readonly update?: true;
  readonly watch?: true;
  readonly laws?: true;
  readonly seed?: string;
  /** Only with `laws`: the OpenAPI documents of the upstream's API (`new`) and of the client's (`old`). */
  readonly new?: string;
  readonly old?: string;
  /** Whether counterexamples are written as golden cases. */
  readonly golden?: true;
  /** The kind of file whose JSON Schema is printed: a file of a pack, an example, or a file of an operator. */
  readonly schema?: string;
  readonly format?: "text" | "json";
  /** The file of a golden case. */
  readonly trace?: string;
}

/** The content of a valid pack, and its golden cases. */
export type CheckedFolder = Awaited<ReturnType<typeof readFolder>>;

/** Writes the actual results into golden cases, and prints the changes of their files. */
async function updateGoldenCases(directory: string, pack: Pack): Promise<void> {
  const { examples, catalogs } = readExamples(directory, []);
  const updated = updateExamples(await compareExamples(pack, examples, catalogs));
  for (const { file, difference } of updated) print(`${file}\n${difference}\n\n`);
  print(`${plural(updated.length, "example")} updated\n`);
}

/** Loads a pack and runs its golden cases. @throws {PackError} If it is invalid. */
export async function readFolder(directory: string, update = false) {
  const { result: pack, expressions } = collectExpressions(() => loadPack(directory));
  if (update) await updateGoldenCases(directory, pack);
  const diagnostics: Diagnostic[] = Object.values(pack.gaps()).flat();
  const read = readExamples(directory, diagnostics);
  const { examples, catalogs } = read;
  diagnostics.push(...findUnknownLists(pack, read));
  diagnostics.push(...(await findLeftOutRows(pack, directory, examples, catalogs)));
  const results = await compareExamples(pack, examples, catalogs);
  diagnostics.push(...diagnosticsOf(results));
  return { pack, expressions, results, problems: diagnostics };
}
