/** Images: the public ones for everyone, an account's own beside them (v4, Catalogs). */

import type { Fault } from "../http/problem.ts";
import type { ActionCall, Call, Resource } from "../resource/declaration.ts";
import { forbidden, grantId, grantMaker, mayReach } from "../resource/grants.ts";
import { idAbove } from "../resource/locate.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import type { Field, Fields } from "../rules/field.ts";
import { blank } from "../rules/default-values.ts";
import type { Disk, Image } from "./shapes.ts";

const creating = 4;
const description: Field = { type: "string", nullable: true, max: 65_000, write: true };
const label: Field = { type: "string", max: 50, filter: true, write: true };

function diskOf({ world, caller, body }: Call): Row<Disk> | undefined {
  const disk = world.table("disk").get(body["disk_id"]);
  const instance = disk && world.table("instance").get(idAbove(disk.home));
  return instance?.home === caller.account ? disk : undefined;
}

function checkDisk(call: Call): Fault[] {
  const given = call.body["disk_id"] !== undefined;
  return given && !diskOf(call) ? [{ reason: "disk_id is not valid", field: "disk_id" }] : [];
}

/** What an image has when it is made, whichever way. */
function newImage(call: Call, id: string, given: object): object {
  return {
    ...blank(call.resource.fields, call.at),
    id,
    created_by: call.caller.user,
    type: "manual",
    status: "creating",
    ...given,
  };
}

function nextId({ world }: Call): string {
  return `private/${world.table("privateImage").nextId()}`;
}

function upload(call: ActionCall<Image>): object {
  const { world, caller, body, resource } = call;
  const id = nextId(call);
  const given = { label: body["label"], description: body["description"] ?? null, status: "pending_upload" };
  const image = newImage(call, id, given) as Image;
  world.table("image").add(caller.account, id, image);
  grantMaker(resource, caller, id);
  return { upload_to: `https://uploads.example.com/${id}`, image };
}

function checkRegion({ world, body }: Call): Fault[] {
  const known = body["region"] === undefined || world.table("region").get(body["region"]);
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
  id: "wide",
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
    takes: creating,
    check: checkDisk,
    guard(call) {
      const instance = call.world.table("instance").get(idAbove(diskOf(call)?.home ?? ""));
      if (!mayReach(call.world.resource("instance"), instance, "read_only", call)) throw forbidden();
    },
    id: nextId,
    fill(call, id) {
      const disk = diskOf(call)?.value;
      const { label: named = disk?.label, description: said = null } = call.body;
      return newImage(call, id as string, { label: named, description: said, size: disk?.size });
    },
    made({ world, at }, row, event) {
      const stages = [
        { status: "creating", takes: creating },
        { status: "available", takes: 0 },
      ];
      startTransition(
        world,
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
      check: checkRegion,
      run: upload,
    },
  ],
};
