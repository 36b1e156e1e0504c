/** Each key of the format is used by a pack that readers can run: the product's, or an example. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { fileSchema } from "../../src/pack/schema/file-schema.ts";
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

test("each key of pack.yaml and of resource files is used by the product's pack or by an example", () => {
  const [known, used] = [new Set<string>(), new Set<string>()];
  const [pack, resource] = [fileSchema("pack") as Schema, fileSchema("resource") as Schema];
  for (const schema of [pack, resource]) collectKeys(schema, known);
  for (const folder of PACK_FOLDERS)
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml"))) {
      const definition: unknown = parse(readFileSync(join(folder, file), "utf8"), { merge: true });
      if (file === "pack.yaml") collectUse(pack, definition, used);
      else if (typeof definition === "object" && definition !== null && "object" in definition)
        collectUse(resource, definition, used);
    }
  expect(known.size).toBeGreaterThan(300);
  expect([...known].filter((key) => !used.has(key))).toEqual([]);
});
