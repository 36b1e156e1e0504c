/** Reads the documents of both APIs for the law of types, and writes its golden cases. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { Pack } from "../../pack/index.ts";
import type { ExampleRun } from "../examples/run-examples.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import { EXAMPLES_FOLDER, readExamples } from "../examples/example.ts";
import { openapiSurface, packSurface, readOpenapi } from "../../migration/index.ts";
import type { TypeReport } from "./type-report.ts";

/** The files of the documents. */
interface DocumentFiles {
  /** The file of the upstream's document. */
  readonly new: string;
  /** The file of the client API's document. Default: the description that `alpha-gateway openapi` prints. */
  readonly old?: string | undefined;
}

/**
 * Checks the fields of a pack against the types of the client's API, for responses that the upstream's document allows.
 *
 * @param results The golden cases of the pack, with their routes
 * @throws {UnreadableDocumentError} {OtherServiceError}
 */
export async function checkDocuments(
  directory: string,
  { pack, results }: { readonly pack: Pack; readonly results: readonly ExampleResult[] },
  files: DocumentFiles,
  { seed, runs: numRuns }: { readonly seed: number; readonly runs: number },
): Promise<TypeReport> {
  const upstream = openapiSurface(await readOpenapi(files.new));
  const client =
    files.old === undefined
      ? packSurface(pack, { withWords: false })
      : openapiSurface(await readOpenapi(files.old));
  const { catalogs: lists } = readExamples(directory, []);
  // It loads fast-check and json-schema-faker, which no other code needs.
  const { TypeLaw } = await import("./check-types.ts");
  const { describeUpstream } = await import("./possible-values.ts");
  const findOperation = describeUpstream(pack, upstream, lists);
  const facts = {
    pack,
    lists,
    runs: new WeakMap<object, ExampleRun>(),
    findOperation,
    client,
    examples: results,
  };
  return new TypeLaw({ ...facts, seed, numRuns }).run();
}

const fileName = (text: string): string =>
  text
    .replaceAll(/[^\w]+/g, "-")
    .replaceAll(/^-+|(?<!-)-+$/g, "")
    .slice(0, 80);

/** Writes a golden case for each counterexample into a pack. Existing files stay. @returns the files */
export function writeCounterexamples(directory: string, { fields }: TypeReport): string[] {
  return fields.flatMap(({ field, object, counterexample }) => {
    if (!counterexample) return [];
    const file = join(directory, EXAMPLES_FOLDER, fileName(object), `counterexample-${fileName(field)}.yaml`);
    if (existsSync(file)) return [];
    mkdirSync(dirname(file), { recursive: true });
    const note = `# Found by "check --laws": ${JSON.stringify(field)} must be ${JSON.stringify(counterexample.expected)}. Write the value that clients should get into the response.\n`;
    writeFileSync(file, note + stringify(JSON.parse(JSON.stringify(counterexample.golden))), { flag: "wx" });
    return [file];
  });
}
