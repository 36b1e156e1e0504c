import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Diagnostic } from "../../mapping/load/diagnostic.ts";
import { validateFile } from "../../mapping/load/validate-file.ts";
import { readYamlFolder, type YamlSource } from "../../mapping/load/yaml-source.ts";
import { expandRepeats } from "./expand-repeats.ts";

/** What v4's catalogs hold in examples: the members of each list by its call. */
export const catalogLists = z.record(z.string(), z.array(z.json()));

/**
 * One golden case of a pack: an alpha request, the v4 calls that it must become and what v4 answers to them,
 * and the alpha answer that must come out. Long lists are written once (`repeat.ts`).
 */
export const exampleDefinition = z.strictObject({
  title: z.string(),
  alpha: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.json().optional(),
  /** In place of a body: a file of this type. */
  file: z.string().optional(),
  /** What v4's catalogs hold in this example, where that is something else. */
  catalogs: catalogLists.optional(),
  v4: z
    .array(
      z.strictObject({
        call: z.string(),
        filter: z.json().optional(),
        body: z.json().optional(),
        status: z.int().optional(),
        answers: z.json().optional(),
        /** In place of that: a file of this type. */
        file: z.string().optional(),
      }),
    )
    .default([]),
  /** `file`: the type of a file that is given; the body is empty then. */
  gives: z.strictObject({ status: z.int().default(200), body: z.json(), file: z.string().optional() }),
});

/** The same as JSON Schema, for editors and hints. */
export const exampleSchema = () => z.toJSONSchema(exampleDefinition, { io: "input" });

export type ExampleDefinition = z.infer<typeof exampleDefinition>;

export interface Example {
  readonly definition: ExampleDefinition;
  readonly source: YamlSource;
}

const CATALOGS_FILE = "catalogs.yaml";

function folders(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return [];
  }
}

/** Reads the examples of a pack, `examples/<resource>/<case>.yaml`. Faults of form go to the list. */
export function readExamples(
  packDirectory: string,
  faults: Diagnostic[],
): { examples: Example[]; catalogs: z.infer<typeof catalogLists> } {
  const top = join(packDirectory, "examples");
  const examples: Example[] = [];
  let catalogs: z.infer<typeof catalogLists> = {};
  const sources = [top, ...folders(top)].flatMap((folder) =>
    folders(packDirectory).includes(folder) ? readYamlFolder(folder) : [],
  );
  for (const source of sources) {
    const isCatalogs = source.file.endsWith(join("examples", CATALOGS_FILE));
    const found: Diagnostic[] = [];
    const whole = { ...source, data: expandRepeats(source.data) };
    const definition = isCatalogs
      ? validateFile(whole, catalogLists, () => ({}), found)
      : validateFile(whole, exampleDefinition, exampleSchema, found);
    faults.push(...found);
    if (found.length > 0 || definition === undefined) continue;
    if (isCatalogs) catalogs = definition as typeof catalogs;
    else examples.push({ source, definition: definition as ExampleDefinition });
  }
  return { examples, catalogs };
}
