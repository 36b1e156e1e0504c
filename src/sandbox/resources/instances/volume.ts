/** Volumes (V-083, V-087). */

import { dateTime } from "../../clock.ts";
import type { Field } from "../../fields/field.ts";
import { stringsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { grantToCreator } from "../../resource/access-control.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { ActionCall, Call, CallContext, Resource } from "../../resource/resource-declaration.ts";
import { finishing, jobStages, startTransition } from "../../resource/transitions.ts";
import type { Store } from "../../store/sandbox-store.ts";
import type { Row } from "../../store/store-table.ts";
import { requireWritableInstance } from "./instance-network.ts";
import type { Instance, UntypedRow, Volume } from "../row-types.ts";
import { tags } from "../label-fields.ts";

const both = ["volumes:read_write", "vms:read_write"];
const working = 3;
const label: Field = {
  type: "string",
  min: 1,
  max: 32,
  pattern: "[a-zA-Z](?:(?!--|__)[a-zA-Z0-9_-])*",
};
const size: Field = { type: "integer", min: 10, max: 10_240 };

function present({ value }: Row<Volume>, { store }: CallContext): UntypedRow {
  const { instance, ...rest } = value;
  const { names } = store;
  return {
    ...rest,
    filesystem_path: `${names.volumePath}${value.label}`,
    [names.vmId]: instance,
    [names.vmLabel]: store.table("instance").get(instance)?.value.label ?? null,
    hardware_type: "nvme",
  };
}

function checkVolume(call: Call): FieldError[] {
  const { vmId } = call.store.names;
  if (call.body[vmId] === undefined && call.body["region"] === undefined)
    return [{ reason: `region is required without ${vmId}`, field: "region" }];
  return unknownIds(call, { region: "region" });
}

function makeVolume(call: Call): Row<Volume> {
  const { store, body, resource } = call;
  const { vmId } = store.names;
  const instance = body[vmId] === undefined ? undefined : requireWritableInstance(call, body[vmId], vmId);
  const region = instance?.value.region ?? String(body["region"]);
  if (body["region"] !== undefined && body["region"] !== region)
    throw invalid("The instance is in another region", "region");
  const row = addVolume(call, {
    label: String(body["label"]),
    size: Number(body["size"] ?? 20),
    region,
    tags: stringsOf(body["tags"]),
  });
  if (instance) attach(store, row, instance);
  startVolumeJob(call, row, "creating", resource.create?.event ?? "");
  return row;
}

function addVolume(
  { store, caller, at }: CallContext,
  given: Pick<Volume, "label" | "size" | "region" | "tags">,
): Row<Volume> {
  const table = store.table("volume");
  const id = table.nextId();
  const time = dateTime(at);
  const state = { status: "creating", instance: null, created: time, updated: time };
  return table.add(caller.account, id, { id, ...given, ...state });
}

/** Starts a job on a volume that ends in status `active`. */
function startVolumeJob(call: Call, row: Row<Volume>, status: string, event: string): void {
  const { id } = recordEvent(call, event, row, working);
  const stages = jobStages(status, working, "active");
  startTransition(call.store, "volume", row, call.at, stages, finishing(id));
}

function requireActive({ row }: ActionCall<Volume>): void {
  if (row.value.status !== "active") throw invalid("The volume is not active");
}

function cloneVolume(call: ActionCall<Volume>): Row<Volume> {
  requireActive(call);
  const { row, body, action, caller, resource } = call;
  const { size, region, tags } = row.value;
  const newRow = addVolume(call, { label: String(body["label"]), size, region, tags: [...tags] });
  grantToCreator(resource, caller, newRow.id);
  startVolumeJob(call, newRow, "creating", action.event ?? "");
  return newRow;
}

function resize(call: ActionCall<Volume>): void {
  requireActive(call);
  const { row, body, action } = call;
  const wanted = Number(body["size"]);
  if (wanted <= row.value.size) throw invalid("A volume can only grow", "size");
  row.value.size = wanted;
  startVolumeJob(call, row, "resizing", action.event ?? "");
}

function checkLabel({ store, caller, body }: Call): FieldError[] {
  const isTaken = [...store.table("volume").inHome(caller.account)].some(
    ({ value }) => value.label === body["label"],
  );
  return isTaken ? [{ reason: "label is already in use", field: "label" }] : [];
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
    label: { ...label, filter: true, write: true, unique: "siblings" },
    status: { type: "string" },
    size: { type: "integer" },
    region: { type: "string" },
    tags: { ...tags, filter: true, write: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  serialize: present,
  create: {
    body: {
      label: { ...label, required: true, unique: "siblings" },
      size,
      region: { type: "string" },
      vm_id: { type: "integer" },
      config_id: { type: "integer" },
      tags,
    },
    event: "volume_create",
    validate: checkVolume,
    createRow: makeVolume,
  },
  update: { event: "volume_update" },
  remove: {
    event: "volume_delete",
    durationSeconds: 2,
    checkPreconditions({ row }) {
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
      returnsRow: "volume",
      run: attachTo,
    },
    { method: "POST", path: "/detach", scopes: both, event: "volume_detach", run: detach },
    {
      method: "POST",
      path: "/clone",
      body: { label: { ...label, required: true } },
      event: "volume_clone",
      grant: "add",
      returnsRow: "volume",
      validate: checkLabel,
      run: cloneVolume,
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

// Attaching and detaching.

const mostAttached = 8;

/** @throws {Problem} 400 if the volume is attached or in another region, or the instance has its maximum. */
function attach(store: Store, row: Row<Volume>, instance: Row<Instance>): void {
  const { vmId } = store.names;
  if (row.value.instance !== null) throw invalid("The volume is attached already");
  if (row.value.region !== instance.value.region) throw invalid("The instance is in another region", vmId);
  const current = [...store.table("volume").all()].filter(({ value }) => value.instance === instance.id);
  if (current.length >= mostAttached) throw invalid(`An instance takes ${mostAttached} volumes`, vmId);
  row.value.instance = instance.value.id;
}

function attachTo(call: ActionCall<Volume>): Row<Volume> {
  const { store, row, body, action } = call;
  const { vmId } = store.names;
  attach(store, row, requireWritableInstance(call, body[vmId], vmId));
  recordEvent(call, action.event ?? "", row);
  return row;
}

function detach(call: ActionCall<Volume>): void {
  const { row, action } = call;
  if (row.value.instance === null) throw invalid("The volume is not attached");
  row.value.instance = null;
  recordEvent(call, action.event ?? "", row);
}

/** Detaches all volumes of an instance. */
export function detachAll(store: Store, instance: number): void {
  for (const { value } of store.table("volume").all()) if (value.instance === instance) value.instance = null;
}
