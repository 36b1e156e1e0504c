/** `npm run docs`: writes what the references have from the code, and the schemas of editors. */
import { readFileSync, writeFileSync } from "node:fs";
import { SCHEMAS } from "../support/schemas.ts";
import { PAGE, withTables } from "./pack-reference.ts";
import { PAGES, withParts } from "./reference.ts";

for (const path of PAGES) writeFileSync(path, await withParts(readFileSync(path, "utf8")));
writeFileSync(PAGE, withTables(readFileSync(PAGE, "utf8")));
for (const [name, schema] of SCHEMAS)
  writeFileSync(`schema/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
