import { expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { PACK_FOLDERS } from "../../support/packs.ts";
import { SCHEMAS } from "../../support/schemas.ts";
import { FILE_KINDS, fileSchema } from "../../../src/pack/schema/file-schema.ts";

test.each(SCHEMAS)("schema/%s.json is what `check --schema` prints", (kind, schema) => {
  expect(JSON.parse(readFileSync(`schema/${kind}.json`, "utf8"))).toEqual(JSON.parse(JSON.stringify(schema)));
});

const files = PACK_FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => [`${folder}/${name}`, name.replace(".yaml", "")] as const),
);
const ajv = new Ajv2020({ strict: false, validateFormats: false });

test.each(files)("the schema accepts %s", (file, name) => {
  const kind = FILE_KINDS.find((each) => each === name) ?? "resource";
  const validate = ajv.compile(fileSchema(kind));
  validate(parse(readFileSync(file, "utf8")));
  expect(validate.errors ?? []).toEqual([]);
});

/** Every schema of a key in a file schema, by the path of the key. */
function keysOf(schema: unknown, path = ""): [string, Record<string, unknown>][] {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((each) => keysOf(each, path));
  return Object.entries(schema as Record<string, unknown>).flatMap(([name, value]) => {
    if (name === "examples" || name === "default") return [];
    if (name !== "properties") return keysOf(value, path);
    const members = Object.entries(value as Record<string, Record<string, unknown>>);
    return members.flatMap(([key, member]): [string, Record<string, unknown>][] => [
      [`${path}.${key}`, member],
      ...keysOf(member, `${path}.${key}`),
    ]);
  });
}

test.each(SCHEMAS)("every key of %s has a description and an example", (_kind, schema) => {
  const lacking = keysOf(schema).filter(([, key]) => {
    const examples = key["examples"];
    return typeof key["description"] !== "string" || !Array.isArray(examples) || examples.length === 0;
  });
  expect(lacking.map(([path]) => path)).toEqual([]);
});

const yamlFiles = PACK_FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => join(folder, name)),
);

test.each(yamlFiles)("%s names its schema in the first line", (file) => {
  const [line = ""] = readFileSync(file, "utf8").split("\n", 1);
  const path = /^# yaml-language-server: \$schema=(\S+)$/.exec(line)?.[1] ?? "missing";
  expect(existsSync(join(dirname(file), path))).toBe(true);
});

test("the schema rejects an unknown key", () => {
  const validate = ajv.compile(fileSchema("resource"));
  expect(validate({ object: "a", fields: { b: "c", d: { upstream: "e", filter: true } } })).toBe(true);
  expect(validate({ object: "a", fields: { b: { v4: "c" } } })).toBe(false);
});
