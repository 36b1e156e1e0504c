/** Read-only catalogs: regions, kernels, instance types, database engines and types. */

import type { Fields } from "../../fields/field.ts";
import type { Resource } from "../../resource/resource-declaration.ts";

const price: Fields = { hourly: { type: "number" }, monthly: { type: "number" } };

export const region: Resource = {
  name: "region",
  path: "/regions",
  id: "text",
  owner: "everyone",
  access: "public",
  fields: {
    id: { type: "string" },
    country: { type: "string" },
    capabilities: { type: "strings" },
    status: { type: "string", values: ["ok", "outage"] },
    resolvers: { type: "object", members: { ipv4: { type: "string" }, ipv6: { type: "string" } } },
  },
  list: {},
  read: true,
};

export const kernel: Resource = {
  name: "kernel",
  path: "/vm/kernels",
  id: "multiSegment",
  owner: "everyone",
  access: "public",
  fields: {
    id: { type: "string" },
    label: { type: "string", filter: true },
    version: { type: "string", filter: true },
    kvm: { type: "boolean", filter: true },
    xen: { type: "boolean", filter: true },
    architecture: { type: "string", filter: true, values: ["x86_64", "i386"] },
    pvops: { type: "boolean", filter: true },
    deprecated: { type: "boolean", filter: true },
    built: { type: "date-time" },
  },
  list: {},
  read: true,
};

export const plan: Resource = {
  name: "plan",
  path: "/vm/types",
  id: "text",
  owner: "everyone",
  access: "public",
  fields: {
    id: { type: "string" },
    label: { type: "string", filter: true },
    disk: { type: "integer", filter: true },
    class: { type: "string", filter: true },
    price: { type: "object", members: price },
    addons: {
      type: "object",
      members: { backups: { type: "object", members: { price: { type: "object", members: price } } } },
    },
    network_out: { type: "integer", filter: true },
    memory: { type: "integer", filter: true },
    successor: { type: "string", nullable: true },
    transfer: { type: "integer", filter: true },
    vcpus: { type: "integer", filter: true },
    gpus: { type: "integer", filter: true },
  },
  list: {},
  read: true,
};

// Public catalogs of managed databases (V-137).

const catalog = { owner: "everyone", access: "public" } as const;

export const engine: Resource = {
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

export const databaseType: Resource = {
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
