import { expect, test } from "vitest";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { exampleSchema } from "../../../src/tools/examples/example.ts";
import { FILE_KINDS, fileSchema } from "../../../src/mapping/schema/file-schema.ts";

const schemas = [
  ...FILE_KINDS.map((kind) => [kind, fileSchema(kind)] as const),
  ["example", exampleSchema()] as const,
];

test.each(schemas)("mappings/schema/%s.json is what `check --schema` prints", (kind, schema) => {
  expect(JSON.parse(readFileSync(`mappings/schema/${kind}.json`, "utf8"))).toEqual(
    JSON.parse(JSON.stringify(schema)),
  );
});

const files = ["mappings", "test/fixtures/library-pack"].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => [`${folder}/${name}`, name.replace(".yaml", "")] as const),
);
const ajv = new Ajv2020({ strict: false });

test.each(files)("the schema accepts %s", (file, name) => {
  const kind = name === "pack" || name === "surface" ? name : "resource";
  const validate = ajv.compile(fileSchema(kind));
  validate(parse(readFileSync(file, "utf8")));
  expect(validate.errors ?? []).toEqual([]);
});

test("the schema rejects an unknown key", () => {
  const validate = ajv.compile(fileSchema("resource"));
  expect(validate({ object: "a", fields: { b: "c", d: { v4: "e", filter: true } } })).toBe(true);
  expect(validate({ object: "a", fields: { b: { v5: "c" } } })).toBe(false);
});
