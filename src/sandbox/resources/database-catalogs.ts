/** Engines and types of managed databases, which anyone may see (v4, databases). */

import type { Resource } from "../resource/declaration.ts";
import type { Value } from "./shapes.ts";

const catalog = { owner: "everyone", access: "public" } as const;

export const engine: Resource<Value> = {
  ...catalog,
  name: "engine",
  path: "/databases/engines",
  id: "multiSegment",
  fields: {
    id: { type: "string" },
    engine: { type: "string", filter: true },
    version: { type: "string", filter: true },
  },
  list: {},
  read: true,
};

export const databaseType: Resource<Value> = {
  ...catalog,
  name: "databaseType",
  path: "/databases/types",
  id: "text",
  fields: {
    id: { type: "string" },
    label: { type: "string" },
    engines: { type: "object" },
    memory: { type: "integer" },
    disk: { type: "integer" },
    vcpus: { type: "integer" },
    deprecated: { type: "boolean", filter: true },
    class: { type: "string" },
  },
  list: {},
  read: true,
};
