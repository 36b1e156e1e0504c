/** Volumes (v4, Volumes). */

import type { Fault } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import type { ActionCall, Call, Resource, View } from "../resource/declaration.ts";
import { record } from "../resource/events.ts";
import { grantMaker } from "../resource/grants.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Field } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import { dateTime } from "../clock.ts";
import { tags } from "./labels.ts";
import { ownInstance } from "./address-create.ts";
import type { Volume } from "./shapes.ts";
import { attach, attachTo, detach } from "./volume-attach.ts";

const both = ["volumes:read_write", "vms:read_write"];
const working = 3;
const label: Field = {
  type: "string",
  min: 1,
  max: 32,
  pattern: "[a-zA-Z](?:(?!--|__)[a-zA-Z0-9_-])*",
};
const size: Field = { type: "integer", min: 10, max: 10_240 };

function present({ value }: Row<Volume>, { world }: View): object {
  const { instance, ...rest } = value;
  const { names } = world;
  return {
    ...rest,
    filesystem_path: `${names.volumePath}${value.label}`,
    [names.vmId]: instance,
    [names.vmLabel]: world.table("instance").get(instance)?.value.label ?? null,
    hardware_type: "nvme",
  };
}

function checkVolume({ world, body }: Call): Fault[] {
  const faults: Fault[] = [];
  const { vmId } = world.names;
  if (body[vmId] === undefined && body["region"] === undefined)
    faults.push({ reason: `region is required without ${vmId}`, field: "region" });
  if (body["region"] !== undefined && !world.table("region").get(body["region"]))
    faults.push({ reason: "region is not valid", field: "region" });
  return faults;
}

function makeVolume(call: Call): Row<Volume> {
  const { world, body, resource } = call;
  const { vmId } = world.names;
  const instance = body[vmId] === undefined ? undefined : ownInstance(call, body[vmId], vmId);
  const region = instance?.value.region ?? String(body["region"]);
  if (body["region"] !== undefined && body["region"] !== region)
    throw invalid("The instance is in another region", "region");
  const row = addVolume(call, {
    label: String(body["label"]),
    size: (body["size"] as number | undefined) ?? 20,
    region,
    tags: (body["tags"] as string[] | undefined) ?? [],
  });
  if (instance) attach(world, row, instance);
  begin(call, row, "creating", resource.create?.event ?? "");
  return row;
}

function addVolume(
  { world, caller, at }: View,
  given: Pick<Volume, "label" | "size" | "region" | "tags">,
): Row<Volume> {
  const table = world.table("volume");
  const id = table.nextId();
  const time = dateTime(at);
  const state = { status: "creating", instance: null, created: time, updated: time };
  return table.add(caller.account, id, { id, ...given, ...state });
}

/** What is done takes a while, at the end of which the volume is active again. */
function begin(call: Call, row: Row<Volume>, status: string, event: string): void {
  const { id } = record(call, event, row, working);
  const stages = [
    { status, takes: working },
    { status: "active", takes: 0 },
  ];
  startTransition(call.world, "volume", row, call.at, stages, { event: { id, status: "finished" } });
}

function requireActive({ row }: ActionCall<Volume>): void {
  if (row.value.status !== "active") throw invalid("The volume is not active");
}

function copy(call: ActionCall<Volume>): Row<Volume> {
  requireActive(call);
  const { row, body, action, caller, resource } = call;
  const { size, region, tags } = row.value;
  const made = addVolume(call, { label: String(body["label"]), size, region, tags: [...tags] });
  grantMaker(resource, caller, made.id);
  begin(call, made, "creating", action.event ?? "");
  return made;
}

function resize(call: ActionCall<Volume>): void {
  requireActive(call);
  const { row, body, action } = call;
  const wanted = body["size"] as number;
  if (wanted <= row.value.size) throw invalid("A volume can only grow", "size");
  row.value.size = wanted;
  begin(call, row, "resizing", action.event ?? "");
}

function checkLabel({ world, caller, body }: Call): Fault[] {
  const taken = [...world.table("volume").of(caller.account)].some(
    ({ value }) => value.label === body["label"],
  );
  return taken ? [{ reason: "label is already in use", field: "label" }] : [];
}

export const volume: Resource<Volume> = {
  name: "volume",
  path: "/volumes",
  id: "integer",
  owner: "account",
  access: "required",
  area: "volumes",
  grant: { entity: "volume", add: "add_volumes" },
  entity: { type: "volume", url: "/v4/volumes/{id}" },
  fields: {
    id: { type: "integer" },
    label: { ...label, filter: true, write: true, unique: "beside" },
    status: { type: "string" },
    size: { type: "integer" },
    region: { type: "string" },
    tags: { ...tags, filter: true, write: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  present,
  create: {
    body: {
      label: { ...label, required: true, unique: "beside" },
      size,
      region: { type: "string" },
      vm_id: { type: "integer" },
      config_id: { type: "integer" },
      tags,
    },
    event: "volume_create",
    check: checkVolume,
    make: makeVolume,
  },
  update: { event: "volume_update" },
  remove: {
    event: "volume_delete",
    takes: 2,
    guard({ row }) {
      if (row.value.instance !== null) throw invalid("Detach the volume first");
    },
  },
  actions: [
    {
      method: "POST",
      path: "/attach",
      scopes: both,
      body: {
        vm_id: { type: "integer", required: true },
        config_id: { type: "integer" },
        persist_across_boots: { type: "boolean" },
      },
      event: "volume_attach",
      shows: "volume",
      run: attachTo,
    },
    { method: "POST", path: "/detach", scopes: both, event: "volume_detach", run: detach },
    {
      method: "POST",
      path: "/clone",
      body: { label: { ...label, required: true } },
      event: "volume_clone",
      grant: "add",
      shows: "volume",
      check: checkLabel,
      run: copy,
    },
    {
      method: "POST",
      path: "/resize",
      body: { size: { ...size, required: true } },
      event: "volume_resize",
      run: resize,
    },
  ],
};
