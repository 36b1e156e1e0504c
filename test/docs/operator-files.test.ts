/** The tables of docs/reference/clients-file.md, sunset-file.md and rollout-file.md, held against the forms of the files. */
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const schemaOf = (name: string): Schema => JSON.parse(readFileSync(`schema/${name}.json`, "utf8"));

/** The keys in the first column of each table of a page. */
function keysOf(page: string): string[] {
  const rows = readFileSync(page, "utf8").matchAll(/^\| (`[^|]+) \|/gm);
  return [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, key = ""]) => key));
}

const sorted = (keys: Iterable<string>): string[] => [...new Set(keys)].toSorted();

test("docs/reference/clients-file.md has a row for each key of a client", () => {
  const keys = Object.keys(schemaOf("clients").additionalProperties?.properties ?? {});
  expect(sorted(keysOf("docs/reference/clients-file.md"))).toEqual(sorted(keys));
});

test("docs/reference/sunset-file.md has a row for each key of the plan and of its stages", () => {
  const { properties = {} } = schemaOf("sunset");
  const keys = [...Object.keys(properties), ...Object.keys(properties["stages"]?.items?.properties ?? {})];
  expect(sorted(keysOf("docs/reference/sunset-file.md"))).toEqual(sorted(keys));
});

test("docs/reference/rollout-file.md has a row for each key of the file and of its parts", () => {
  const { properties = {} } = schemaOf("rollout");
  const parts = [properties["compare"], properties["turn_back"], properties["new"]?.anyOf?.[1]?.items];
  const keys = [properties, ...parts.map((part) => part?.properties ?? {})].flatMap(Object.keys);
  expect(sorted(keysOf("docs/reference/rollout-file.md"))).toEqual(sorted(keys));
});
