/** Each key of the format is used by a pack that readers can run: the product's, or an example. */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { catalogsSchema, exampleSchema } from "../../src/authoring/examples/example.ts";
import { FILE_KINDS, fileSchema } from "../../src/pack/schema/file-schema.ts";
import { PACK_FOLDERS } from "../support/packs.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A key has one description, wherever it may be written. */
const idOf = (name: string, { description = "" }: Schema): string => `${name}: ${description}`;

/** Adds the keys of a schema to `found`. Values of other keys are names of the pack's author. */
function collectKeys(schema: Schema, found: Set<string>): void {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    found.add(idOf(name, member));
    collectKeys(member, found);
  }
  for (const choice of schema.anyOf ?? []) collectKeys(choice, found);
  if (typeof schema.additionalProperties === "object") collectKeys(schema.additionalProperties, found);
  if (schema.items) collectKeys(schema.items, found);
}

/** Adds the keys that a value has. */
function collectUse(schema: Schema, value: unknown, found: Set<string>): void {
  for (const choice of schema.anyOf ?? []) collectUse(choice, value, found);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) collectUse(schema.items ?? {}, item, found);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const known = schema.properties?.[name];
    if (known) found.add(idOf(name, known));
    const inside = known ?? schema.additionalProperties;
    if (typeof inside === "object") collectUse(inside, member, found);
  }
}

/** The schema of a file in the folder of a pack. Undefined for a file of another kind, such as `functions.yaml`. */
function schemaOf(file: string, definition: unknown): Schema | undefined {
  if (file.endsWith("examples/catalogs.yaml")) return catalogsSchema() as Schema;
  if (/^(?:mappings|examples\/[^/]+\/pack)\/examples\//.test(file)) return exampleSchema() as Schema;
  const named = FILE_KINDS.find((kind) => basename(file) === `${kind}.yaml`);
  if (named) return fileSchema(named);
  const isResource = typeof definition === "object" && definition !== null && "object" in definition;
  return isResource ? fileSchema("resource") : undefined;
}

/** Only an unfinished draft has open points: those that `init` writes (`test/authoring/draft`). */
const isOfDrafts = (key: string): boolean => key.startsWith("open: ");

test("each key of a file of a pack is used by the product's pack or by an example", () => {
  const [known, used] = [new Set<string>(), new Set<string>()];
  for (const schema of [...FILE_KINDS.map(fileSchema), exampleSchema(), catalogsSchema()])
    collectKeys(schema, known);
  for (const file of PACK_FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.yaml`))) {
    const definition: unknown = parse(readFileSync(file, "utf8"), { merge: true });
    collectUse(schemaOf(file, definition) ?? {}, definition, used);
  }
  expect(known.size).toBeGreaterThan(300);
  expect([...known].filter((key) => !used.has(key) && !isOfDrafts(key))).toEqual([]);
});
