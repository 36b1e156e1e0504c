/** Volumes (V-083, V-087). */

import { dateTime } from "../../clock.ts";
import type { Field } from "../../fields/field.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { grantToCreator } from "../../resource/access-control.ts";
import { recordEvent } from "../../resource/event-log.ts";
import type { ActionCall, Call, CallContext, Resource, Store } from "../../resource/resource-declaration.ts";
import { finishing, jobStages, startTransition } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import type { UntypedRow, Volume } from "../row-types.ts";
import { tags } from "../label-fields.ts";

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
  const { store, row, body, action, caller, resource } = call;
  const table = store.table("volume");
  const id = table.nextId();
  const time = dateTime(call.at);
  const copy = { ...structuredClone(row.value), id, label: String(body["label"]), instance: null };
  const newRow = table.add(caller.account, id, { ...copy, created: time, updated: time });
  grantToCreator(resource, caller, id);
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
    label: { ...label, filter: true },
    status: { type: "string" },
    size: { type: "integer" },
    region: { type: "string" },
    tags: { ...tags, filter: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  serialize: present,
  actions: [
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

/** Detaches all volumes of an instance. */
export function detachAll(store: Store, instance: number): void {
  for (const { value } of store.table("volume").all()) if (value.instance === instance) value.instance = null;
}
