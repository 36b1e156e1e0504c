/** Object storage: buckets and keys (V-159, V-166, V-169, V-195). Objects are not stored. */

import { randomBytes } from "node:crypto";
import type { Field, Fields } from "../../fields/field.ts";
import { objectsOf, stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Resource, Store } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { UntypedRow } from "../row-types.ts";

const common = { owner: "account", access: "required", area: "object_storage" } as const;
const rate = { limit: 750, seconds: 1 };
const redacted = "[REDACTED]";
const acl: Field = {
  type: "string",
  values: ["private", "public-read", "authenticated-read", "public-read-write", "custom"],
};
const accessBody: Fields = { cors_enabled: { type: "boolean" }, acl };

/** Activates object storage with the first key or bucket. */
function activateObjectStorage(store: Store, account: string): void {
  const settings = store.table("settings").get(account);
  if (settings) settings.value["object_storage"] = "active";
}

function checkBucket(call: Call): FieldError[] {
  const errors = unknownIds(call, { cluster: "storageCluster" });
  const { cluster, label } = call.body;
  if (call.store.table("bucket").get(`${stringOf(cluster)}/${stringOf(label)}`))
    errors.push({ reason: "label is already in use in this cluster", field: "label" });
  return errors;
}

function plainBucket({ value }: Row): UntypedRow {
  const { acl: _acl, cors_enabled: _cors, ssl: _ssl, ...shown } = value;
  return shown;
}

function setAccess({ row, body }: ActionCall): void {
  Object.assign(row.value, body["acl"] !== undefined && { acl: body["acl"] });
  Object.assign(row.value, body["cors_enabled"] !== undefined && { cors_enabled: body["cors_enabled"] });
}

function aclOf({ row, body }: ActionCall): object {
  const given = body["acl"] ?? row.value["acl"];
  return { acl: given, acl_xml: `<AccessControlPolicy><Owner/></AccessControlPolicy>` };
}

export const bucket: Resource = {
  ...common,
  name: "bucket",
  path: "/object-storage/buckets",
  id: "twoSegments",
  fields: {
    created: { type: "date-time" },
    cluster: { type: "string", required: true, create: true },
    label: {
      type: "string",
      min: 3,
      max: 63,
      pattern: "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?",
      required: true,
      create: true,
    },
    hostname: { type: "string" },
    size: { type: "integer" },
    objects: { type: "integer" },
    acl: { ...acl, default: "private", create: true },
    cors_enabled: { type: "boolean", create: true },
    ssl: { type: "boolean" },
  },
  list: {},
  read: true,
  serialize: plainBucket,
  create: {
    validate: checkBucket,
    id: ({ body }) => `${String(body["cluster"])}/${String(body["label"])}`,
    computeMembers({ store, body, caller }) {
      activateObjectStorage(store, caller.account);
      const { domain } = store.table("storageCluster").get(body["cluster"])?.value ?? {};
      return { hostname: `${String(body["label"])}.${String(domain)}` };
    },
    rate,
  },
  remove: {},
  actions: [
    { method: "POST", path: "/access", body: accessBody, run: setAccess },
    { method: "PUT", path: "/access", body: accessBody, run: setAccess },
    { method: "GET", path: "/object-acl", run: aclOf },
    {
      method: "PUT",
      path: "/object-acl",
      body: { acl: { ...acl, required: true }, name: { type: "string", min: 1, required: true } },
      run: aclOf,
    },
    { method: "GET", path: "/ssl", run: ({ row }) => ({ ssl: row.value["ssl"] === true }) },
    {
      method: "POST",
      path: "/ssl",
      body: {
        certificate: { type: "string", min: 1, required: true },
        private_key: { type: "string", min: 1, required: true },
      },
      run({ row }) {
        row.value["ssl"] = true;
        return { ssl: true };
      },
    },
    { method: "DELETE", path: "/ssl", run: ({ row }) => void (row.value["ssl"] = false) },
    { on: "service", method: "GET", path: "/object-storage/transfer", rate, run: () => ({ used: 0 }) },
    { on: "service", method: "POST", path: "/object-storage/cancel", run: cancel },
  ],
};

/** Deletes all buckets and keys permanently. */
function cancel({ store, caller }: ActionCall): void {
  store.table("bucket").removeAll(caller.account);
  store.table("storageKey").removeAll(caller.account);
  const settings = store.table("settings").get(caller.account);
  if (settings) settings.value["object_storage"] = "disabled";
}

function checkAccess({ store, caller, body }: Call): FieldError[] {
  return objectsOf(body["bucket_access"]).flatMap((each, index): FieldError[] => {
    const row = store.table("bucket").get(`${stringOf(each["cluster"])}/${stringOf(each["bucket_name"])}`);
    const field = `bucket_access[${index}].bucket_name`;
    return row?.home === caller.account ? [] : [{ reason: "bucket_name is not valid", field }];
  });
}

/** Access keys. A key without `bucket_access` has access to all buckets, a key with an empty list to no bucket. */
export const storageKey: Resource = {
  ...common,
  name: "storageKey",
  path: "/object-storage/keys",
  id: "integer",
  fields: {
    id: { type: "integer" },
    label: { type: "string", max: 255, write: true },
    access_key: { type: "string" },
    secret_key: { type: "string", default: redacted },
    limited: { type: "boolean" },
    bucket_access: {
      type: "objects",
      nullable: true,
      max: 1000,
      create: true,
      members: {
        cluster: { type: "string", required: true },
        bucket_name: { type: "string", required: true },
        permissions: { type: "string", values: ["read_write", "read_only"], required: true },
      },
    },
  },
  list: {},
  read: true,
  create: {
    validate: checkAccess,
    computeMembers({ store, caller, body }) {
      activateObjectStorage(store, caller.account);
      return {
        access_key: randomBytes(10).toString("hex").toUpperCase(),
        limited: (body["bucket_access"] ?? null) !== null,
        bucket_access: body["bucket_access"] ?? [],
      };
    },
    // The secret is not stored. Only this response contains it.
    buildResponse: ({ value }) => ({ ...value, secret_key: randomBytes(20).toString("hex") }),
    rate,
  },
  update: {},
  remove: {},
};
