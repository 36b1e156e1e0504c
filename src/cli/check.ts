import { readExamples } from "../examples/example.ts";
import { runExamples } from "../examples/run.ts";
import { compiledBy, type Expression } from "../expression/index.ts";
import { faultLine, PackError, type PackFault } from "../mapping/fault.ts";
import { loadPack } from "../mapping/load.ts";
import { summarise, type PackSummary } from "../mapping/summary.ts";
import { packFolder } from "../service/pack-folder.ts";

const HELP = `alpha-gateway check [DIR] [--emit]

Checks the mapping pack in a folder (default: ./mappings, else the one that came along): every fault with file,
line and column. Runs the examples in the pack, and prints what it covers. Ends with 0, or 1 if there was a fault.

  --emit  prints the JavaScript that each expression of the pack runs as
`;

/** How many expressions run as JavaScript, and why the others don't. */
function engines(expressions: readonly Expression[]): string[] {
  const interpreted = expressions.filter(({ engine }) => engine === "interpreted");
  const reasons = interpreted.map(({ source, fallback }) => `  interpreted: ${source.trim()} (${fallback})`);
  const count = expressions.length - interpreted.length;
  return [`expressions compiled ${count}, interpreted ${interpreted.length}`, ...reasons];
}

/** The code of each expression under its source; the same expression once. */
function emitted(expressions: readonly Expression[]): string {
  const sources = new Map(expressions.map(({ source, code }) => [source.trim(), code ?? "// interpreted"]));
  return [...sources].map(([source, code]) => `${source.replaceAll(/^/gm, "// ")}\n${code}\n\n`).join("");
}

function coverage(
  { routes, objects, classes }: PackSummary,
  examples: number,
  expressions: readonly Expression[],
): string {
  const fields = objects.reduce((sum, object) => sum + object.fields.length, 0);
  const counts = Object.entries(classes).map(([name, count]) => `${name} ${count}`);
  return [
    `${routes.length} routes, ${objects.length} objects, ${fields} fields`,
    `fields by class: ${counts.join(", ")}`,
    ...engines(expressions),
    `${examples} examples passed`,
    "",
  ].join("\n");
}

const tell = (faults: readonly PackFault[]): number => {
  process.stdout.write(
    `${faults.map(faultLine).join("\n")}\n${faults.length} fault${faults.length === 1 ? "" : "s"}\n`,
  );
  return 1;
};

/** `alpha-gateway check`: the exit code. */
export async function check(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(HELP);
    return 0;
  }
  const folder = args.find((argument) => argument !== "--emit");
  const directory = packFolder(folder ?? process.env["MAPPINGS_DIR"]);
  try {
    const { result: pack, expressions } = compiledBy(() => loadPack(directory));
    const faults: PackFault[] = [];
    const { examples, catalogs } = readExamples(directory, faults);
    faults.push(...(await runExamples(pack, examples, catalogs)));
    if (faults.length > 0) return tell(faults);
    if (args.includes("--emit")) process.stdout.write(emitted(expressions));
    process.stdout.write(coverage(summarise(pack), examples.length, expressions));
    return 0;
  } catch (error) {
    if (error instanceof PackError) return tell(error.faults);
    throw error;
  }
}
