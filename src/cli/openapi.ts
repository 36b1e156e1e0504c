import { parseArgs } from "node:util";
import { describePack } from "../tools/openapi/document.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import { packFolder } from "../app/pack-folder.ts";
import { parseProductWords } from "../config/product-words.ts";

const HELP = `alpha-gateway openapi [DIR]

Prints an OpenAPI 3.1 description (JSON) of the interface that the pack in a folder gives to its clients (default:
./mappings, else the one that came along), in the service's WORDS.
`;

/** Of the description, which changes with the pack and not with the program. */
const VERSION = "1";

/** `alpha-gateway openapi`: the exit code. */
export async function openapi(args: readonly string[]): Promise<number> {
  const options = { help: { type: "boolean", short: "h" } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const directory = packFolder(positionals[0] ?? process.env["MAPPINGS_DIR"]);
  const pack = loadPack(directory, parseProductWords(process.env["WORDS"] ?? "vm=vm"));
  process.stdout.write(`${JSON.stringify(describePack(pack, VERSION), null, 2)}\n`);
  return 0;
}
