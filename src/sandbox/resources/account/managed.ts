/** Managed credentials and services (V-070 to V-072, V-115 to V-117, V-157). */

import type { Field, Fields } from "../../fields/field.ts";
import type { FieldError } from "../../http/problem.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { Call, Resource } from "../../resource/resource-declaration.ts";

const common = {
  id: "integer",
  owner: "account",
  access: "required",
  area: "account",
  grant: "unrestricted",
} as const;
const secrets: Fields = {
  username: { type: "string", max: 5000 },
  password: { type: "string", min: 1, max: 5000, required: true },
};
const label: Field = { type: "string", min: 2, max: 75, pattern: "[a-zA-Z0-9\\-_ .]*", unique: "siblings" };

/** User name and password are validated but not stored, because the sandbox never uses them. */
export const credential: Resource = {
  ...common,
  name: "credential",
  path: "/managed/credentials",
  entity: { type: "managed_service", url: "/v4/managed/credentials/{id}" },
  scopes: { read: ["account:read_write"] },
  fields: {
    id: { type: "integer" },
    label: { ...label, required: true, write: true },
    last_decrypted: { type: "date-time", nullable: true },
  },
  list: {},
  read: true,
  create: { body: { label: { ...label, required: true }, ...secrets } },
  update: {},
  actions: [{ method: "POST", path: "/update", body: secrets, run: () => {} }],
};

function checkService(call: Call): FieldError[] {
  const { store, caller, body } = call;
  const errors = unknownIds(call, { region: "region" });
  const ids = Array.isArray(body["credentials"]) ? body["credentials"] : [];
  const unknown = ids.filter((id) => store.table("credential").get(id)?.home !== caller.account);
  if (unknown.length > 0) errors.push({ reason: "credentials is not valid", field: "credentials" });
  return errors;
}

export const service: Resource = {
  ...common,
  name: "service",
  path: "/managed/services",
  entity: { type: "managed_service", url: "/v4/managed/services/{id}" },
  fields: {
    id: { type: "integer" },
    status: { type: "string", default: "pending" },
    service_type: { type: "string", values: ["url", "tcp"], required: true, write: true },
    label: { type: "string", min: 3, max: 64, pattern: "[a-zA-Z0-9_ .-]*", required: true, write: true },
    address: { type: "string", min: 3, max: 100, required: true, write: true },
    timeout: { type: "integer", min: 1, max: 255, required: true, write: true },
    body: { type: "string", nullable: true, max: 100, write: true },
    consultation_group: { type: "string", max: 50, write: true },
    notes: { type: "string", nullable: true, max: 5000, write: true },
    region: { type: "string", nullable: true, write: true },
    credentials: { type: "integers", write: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  create: { event: "managed_service_create", validate: checkService },
  update: { validate: checkService },
};
