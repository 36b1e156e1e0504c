import { parseArgs } from "node:util";
import { exampleSchema, readExamples } from "../tools/examples/example.ts";
import { runExamples } from "../tools/examples/run-examples.ts";
import { compiledBy, type Expression } from "../jsonata/index.ts";
import { formatDiagnostic, PackError, type Diagnostic } from "../mapping/load/diagnostic.ts";
import { FILE_KINDS, fileSchema } from "../mapping/schema/file-schema.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import type { Pack } from "../mapping/pack.ts";
import { packFolder } from "../app/pack-folder.ts";
import { coverage } from "./coverage.ts";
import { UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway check [DIR] [--emit] [--schema resource|pack|surface|example]

Checks the mapping pack in a folder (default: ./mappings, else the one that came along): every fault with file,
line and column, the line itself, and what would be right. Runs the examples in the pack, holds it against its
surface.yaml, and prints what it covers. Ends with 0, or 1 if there was a fault.

  --emit         prints the JavaScript that the expressions and the objects of the pack run as
  --schema KIND  prints the JSON Schema of a kind of file, for an editor to complete from, and checks nothing
`;

/** The code of each expression under its source; the same expression once. */
function emitted(expressions: readonly Expression[]): string {
  const sources = new Map(expressions.map(({ source, code }) => [source.trim(), code ?? "// interpreted"]));
  return [...sources].map(([source, code]) => `${source.replaceAll(/^/gm, "// ")}\n${code}\n\n`).join("");
}

/** The code of each object under its name. */
const emittedObjects = (resources: Pack["resources"]): string =>
  [...resources.values()].map(({ name, code }) => `// ${name}\n${code}\n\n`).join("");

function tell(faults: readonly Diagnostic[]): number {
  const count = `${faults.length} fault${faults.length === 1 ? "" : "s"}`;
  process.stdout.write(`${faults.map(formatDiagnostic).join("\n")}\n${count}\n`);
  return 1;
}

const SCHEMAS = new Map<string, () => object>([
  ...FILE_KINDS.map((kind) => [kind, () => fileSchema(kind)] as const),
  ["example", exampleSchema],
]);

function printSchema(kind: string): number {
  const schema = SCHEMAS.get(kind)?.();
  if (!schema) throw new UsageError(`--schema: there are ${[...SCHEMAS.keys()].join(", ")}`);
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}

async function checkFolder(directory: string, emit: boolean): Promise<number> {
  const { result: pack, expressions } = compiledBy(() => loadPack(directory));
  const faults: Diagnostic[] = [...pack.gaps.unmappedFields, ...pack.gaps.unmappedRoutes];
  const { examples, catalogs } = readExamples(directory, faults);
  faults.push(...(await runExamples(pack, examples, catalogs)));
  if (faults.length > 0) return tell(faults);
  if (emit) process.stdout.write(emitted(expressions) + emittedObjects(pack.resources));
  process.stdout.write(coverage(pack, examples.length, expressions));
  return 0;
}

/** `alpha-gateway check`: the exit code. */
export async function check(args: readonly string[]): Promise<number> {
  const options = {
    emit: { type: "boolean" },
    schema: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.schema !== undefined) return printSchema(values.schema);
  try {
    return await checkFolder(packFolder(positionals[0] ?? process.env["MAPPINGS_DIR"]), values.emit === true);
  } catch (error) {
    if (error instanceof PackError) return tell(error.diagnostics);
    throw error;
  }
}
