/** Images: the public ones for everyone, an account's own beside them (v4, Catalogs). */

import type { FieldError } from "../http/problem.ts";
import type { ActionCall, Call, Resource } from "../resource/declaration.ts";
import { forbidden, grantId, grantToCreator, canAccess } from "../resource/grants.ts";
import { parentId } from "../resource/locate.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import type { Field, Fields } from "../rules/field.ts";
import { defaultValues } from "../rules/default-values.ts";
import type { Disk, Image } from "./shapes.ts";

const creating = 4;
const description: Field = { type: "string", nullable: true, max: 65_000, write: true };
const label: Field = { type: "string", max: 50, filter: true, write: true };

function diskOf({ store, caller, body }: Call): Row<Disk> | undefined {
  const disk = store.table("disk").get(body["disk_id"]);
  const instance = disk && store.table("instance").get(parentId(disk.home));
  return instance?.home === caller.account ? disk : undefined;
}

function checkDisk(call: Call): FieldError[] {
  const given = call.body["disk_id"] !== undefined;
  return given && !diskOf(call) ? [{ reason: "disk_id is not valid", field: "disk_id" }] : [];
}

/** What an image has when it is made, whichever way. */
function newImage(call: Call, id: string, given: object): object {
  return {
    ...defaultValues(call.resource.fields, call.at),
    id,
    created_by: call.caller.user,
    type: "manual",
    status: "creating",
    ...given,
  };
}

function nextId({ store }: Call): string {
  return `private/${store.table("privateImage").nextId()}`;
}

function upload(call: ActionCall<Image>): object {
  const { store, caller, body, resource } = call;
  const id = nextId(call);
  const given = { label: body["label"], description: body["description"] ?? null, status: "pending_upload" };
  const image = newImage(call, id, given) as Image;
  store.table("image").add(caller.account, id, image);
  grantToCreator(resource, caller, id);
  return { upload_to: `https://uploads.example.com/${id}`, image };
}

function checkRegion({ store, body }: Call): FieldError[] {
  const known = body["region"] === undefined || store.table("region").get(body["region"]);
  return known ? [] : [{ reason: "region is not valid", field: "region" }];
}

const createBody: Fields = {
  disk_id: { type: "integer", required: true },
  label: { type: "string", min: 1, max: 50 },
  description,
};

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
    id: (value) => grantId((value as Image).id),
  },
  fields: {
    id: { type: "string" },
    label,
    created: { type: "date-time" },
    updated: { type: "date-time" },
    created_by: { type: "string", nullable: true },
    deprecated: { type: "boolean", filter: true },
    description,
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
  scopes: { create: ["images:read_write", "vms:read_only"] },
  create: {
    body: createBody,
    event: "disk_imagize",
    durationSeconds: creating,
    validate: checkDisk,
    checkPreconditions(call) {
      const instance = call.store.table("instance").get(parentId(diskOf(call)?.home ?? ""));
      if (!canAccess(call.store.resource("instance"), instance, "read_only", call)) throw forbidden();
    },
    id: nextId,
    computeMembers(call, id) {
      const disk = diskOf(call)?.value;
      const { label: named = disk?.label, description: said = null } = call.body;
      return newImage(call, id as string, { label: named, description: said, size: disk?.size });
    },
    afterCreate({ store, at }, row, event) {
      const stages = [
        { status: "creating", durationSeconds: creating },
        { status: "available", durationSeconds: 0 },
      ];
      startTransition(
        store,
        "image",
        row,
        at,
        stages,
        event === undefined ? {} : { event: { id: event, status: "finished" } },
      );
    },
  },
  update: { event: "image_update" },
  remove: { event: "image_delete" },
  actions: [
    {
      on: "collection",
      method: "POST",
      path: "/upload",
      grant: "add",
      access: "required",
      body: {
        region: { type: "string", required: true },
        label: { type: "string", min: 1, max: 50, required: true },
        description,
      },
      validate: checkRegion,
      run: upload,
    },
  ],
};
