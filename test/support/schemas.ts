/** The JSON Schemas for editors, by the name of their file in `schema/`. */
import { CLIENTS_FILE } from "../../src/audit/clients/client-directory.ts";
import { catalogsSchema, exampleSchema } from "../../src/authoring/examples/example.ts";
import { operatorFileSchema } from "../../src/base/files/operator-file.ts";
import { NOTICES_SCHEMA } from "../../src/migration/notices/notices-file.ts";
import { PLAN_SCHEMA } from "../../src/migration/plan/plan-definition.ts";
import { ROLLOUT_SCHEMA } from "../../src/migration/rollout/definition.ts";
import { FILE_KINDS, fileSchema } from "../../src/pack/schema/file-schema.ts";

export const SCHEMAS: readonly (readonly [name: string, schema: unknown])[] = [
  ...FILE_KINDS.map((kind) => [kind, fileSchema(kind)] as const),
  ["example", exampleSchema()],
  ["catalogs", catalogsSchema()],
  ["sunset", operatorFileSchema(PLAN_SCHEMA)],
  ["clients", operatorFileSchema(CLIENTS_FILE.schema)],
  ["rollout", operatorFileSchema(ROLLOUT_SCHEMA)],
  ["notices", operatorFileSchema(NOTICES_SCHEMA)],
];
