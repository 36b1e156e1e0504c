/**
 * `alpha-gateway parity example`: writes a golden case into a pack. It is not in `compare`, because that room does not
 * depend on golden cases.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EXAMPLES_FOLDER, toGoldenCase } from "../../../authoring/index.ts";
import { CommandError, type FeatureCommand, lines } from "../../../base/index.ts";
import { readExample } from "../../../compare/index.ts";
import { loadPack, packFolder } from "../../../pack/index.ts";
import type { CommandNeeds } from "../feature-needs.ts";

export const PARITY_EXAMPLE: FeatureCommand<CommandNeeds, object> = {
  syntax: "example <id>",
  description: "Write a golden case from an example: it expects the response that the client got.",
  argument: "its id, as parity prints it",
  flags: [
    {
      syntax: "--pack <directory>",
      description: "folder of the pack that gets it (default: the current pack)",
    },
  ],
  async run({ needs: { state }, settings, given: { id = "", pack: folder } }) {
    const example = await readExample(state, id);
    if (!example) throw new CommandError(`there is no example ${id}: "parity" lists their ids`);
    const directory = folder ?? packFolder(settings.MAPPINGS_DIR);
    // `WORDS` is not used, because golden cases use the pack's own words.
    const pack = loadPack(directory);
    const golden = toGoldenCase(example, pack);
    if ("problem" in golden) throw new CommandError(`there can be no golden case: ${golden.problem}`);
    const object = pack.route(example.route)?.object;
    if (object === undefined) throw new CommandError(`the pack has no route "${example.route}"`);
    const file = join(directory, EXAMPLES_FOLDER, object, `difference-${id.replaceAll(/[^\w-]/g, "")}.yaml`);
    if (existsSync(file)) throw new CommandError(`${file} is there already`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, golden.yaml, { flag: "wx" });
    return {
      blocks: lines(
        `wrote ${file}`,
        `It expects the answer that clients got. Run "alpha-gateway check ${directory}".`,
      ),
    };
  },
};
