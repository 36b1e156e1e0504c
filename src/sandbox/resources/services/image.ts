/** Images, public and private, and their deployment to disks. */

import type { Field, Fields } from "../../fields/field.ts";
import { objectOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { grantId } from "../../resource/access-control.ts";
import type { Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { publicHome } from "../../store/homes.ts";
import type { Image, Script, ScriptQuestion, UntypedRow } from "../row-types.ts";

export const image: Resource<Image> = {
  name: "image",
  path: "/images",
  id: "multiSegment",
  owner: "both",
  access: "optional",
  area: "images",
  grant: { entity: "image", add: "add_images" },
  entity: {
    type: "image",
    url: "/v4/images/{id}",
    id: (value) => grantId(value.id),
  },
  fields: {
    id: { type: "string" },
    label: { type: "string", filter: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    created_by: { type: "string", nullable: true },
    deprecated: { type: "boolean", filter: true },
    description: { type: "string", nullable: true },
    is_public: { type: "boolean", filter: true },
    size: { type: "integer", filter: true },
    type: { type: "string", filter: true, values: ["manual", "automatic"] },
    expiry: { type: "date-time", nullable: true },
    eol: { type: "date-time", nullable: true },
    vendor: { type: "string", nullable: true, filter: true },
    status: { type: "string", values: ["creating", "pending_upload", "available"] },
  },
  list: {},
  read: true,
};

// Validation shared by all calls that deploy an image: instance create, rebuild, disk create.

export const rootPass: Field = { type: "string", min: 7, max: 128 };

/** Returns the image that the body names, if the caller may use it. */
export function imageOf({ store, caller, body }: Call): Image | undefined {
  return seen(store.table("image").get(body["image"]), caller.account);
}

/** Validates `image`, `root_pass`, `authorized_users`, `stackscript_id` and `stackscript_data` together. */
export function checkImage(call: Call): FieldError[] {
  const { body } = call;
  const image = imageOf(call);
  const errors: FieldError[] = [];
  if (typeof body["image"] === "string") {
    if (!image) errors.push({ reason: "image is not valid", field: "image" });
    errors.push(...checkPassword(body["root_pass"]));
  }
  errors.push(...checkUsers(call));
  if (body["stackscript_id"] !== undefined) errors.push(...checkScript(call, image));
  return errors;
}

/** The SSH keys of these users are deployed, so they must belong to the account. */
function checkUsers({ store, caller, body }: Call): FieldError[] {
  const users = Array.isArray(body["authorized_users"]) ? body["authorized_users"] : [];
  const unknown = users.filter(
    (name) => typeof name === "string" && store.table("user").get(name)?.home !== caller.account,
  );
  const field = "authorized_users";
  return unknown.map((name) => ({ reason: `${String(name)} is not a user of this account`, field }));
}

function checkPassword(password: unknown): FieldError[] {
  if (password === undefined) return [{ reason: "root_pass is required with image", field: "root_pass" }];
  return checkStrength(password, "root_pass");
}

/** Rejects a password with fewer than four different characters. */
export function checkStrength(password: unknown, field: string): FieldError[] {
  if (typeof password !== "string" || new Set(password).size >= 4) return [];
  return [{ reason: "Password does not meet strength requirement", field }];
}

function checkScript(call: Call, image: Image | undefined): FieldError[] {
  const { store, caller, body } = call;
  const script = seen(store.table("script").get(body["stackscript_id"]), caller.account);
  const field = "stackscript_id";
  if (!script) return [{ reason: "stackscript_id is not valid", field }];
  if (body["backup_id"] !== undefined)
    return [{ reason: "stackscript_id can't be used with backup_id", field }];
  if (typeof body["image"] !== "string") return [{ reason: "stackscript_id needs an image", field }];
  if (image && !script.images.includes(image.id)) {
    return [{ reason: `The script can't be deployed on ${image.id}`, field }];
  }
  return checkScriptData(script, body["stackscript_data"]);
}

function checkScriptData(script: Script, data: unknown): FieldError[] {
  const values = objectOf(data);
  return script.user_defined_fields.flatMap((question) => {
    const value = Object.hasOwn(values, question.name) ? values[question.name] : undefined;
    const reason = valueError(question, value);
    return reason === undefined ? [] : [{ reason, field: "stackscript_data" }];
  });
}

function valueError({ name, default: otherwise, oneof }: ScriptQuestion, value: unknown): string | undefined {
  if (value === undefined || value === "") {
    return otherwise === undefined ? `${name} is required` : undefined;
  }
  const choices = oneof?.split(",");
  return choices && !choices.some((choice) => choice === value)
    ? `${name} must be one of ${oneof}`
    : undefined;
}

function seen<T extends UntypedRow>(row: Row<T> | undefined, account: string): T | undefined {
  return row && (row.home === publicHome || row.home === account) ? row.value : undefined;
}

// Body members shared by instance create, rebuild and disk create.

export const deployBody: Fields = {
  image: { type: "string", nullable: true },
  root_pass: rootPass,
  authorized_keys: { type: "strings" },
  authorized_users: { type: "strings" },
  stackscript_id: { type: "integer" },
  stackscript_data: { type: "object" },
};
