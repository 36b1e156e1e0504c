/** Firewalls, their devices and rules (V-160, V-163). */

import { dateTime } from "../../clock.ts";
import type { Field, Fields } from "../../fields/field.ts";
import { numbersOf, objectOf, objectsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { canAccess, forbidden } from "../../resource/access-control.ts";
import { recordEvent, toEntity } from "../../resource/event-log.ts";
import { parentOf } from "../../resource/find-rows.ts";
import type { ActionCall, Call, CallContext, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { Instance, UntypedRow } from "../row-types.ts";
import { tags } from "../label-fields.ts";
import { childHome } from "../../store/homes.ts";

const common = { id: "integer", owner: "account", access: "required", area: "firewall", beta: true } as const;

const policy: Field = { type: "string", values: ["ACCEPT", "DROP"] };
const rule: Fields = {
  protocol: { type: "string", values: ["TCP", "UDP", "ICMP"], required: true },
  ports: { type: "string", max: 255 },
  addresses: {
    type: "object",
    members: {
      ipv4: { type: "strings", max: 255, items: { type: "string", pattern: "[\\d.]+(?:/\\d{1,2})?" } },
      ipv6: { type: "strings", max: 255, items: { type: "string", pattern: "[\\da-fA-F:.]+(?:/\\d{1,3})?" } },
    },
  },
  action: { ...policy, required: true },
  label: { type: "string", min: 3, max: 32 },
  description: { type: "string", min: 1, max: 100 },
};
const rules: Fields = {
  inbound: { type: "objects", max: 25, members: rule },
  outbound: { type: "objects", max: 25, members: rule },
  inbound_policy: policy,
  outbound_policy: policy,
};
const open = { inbound: [], outbound: [], inbound_policy: "ACCEPT", outbound_policy: "ACCEPT" };
const label: Field = {
  type: "string",
  min: 3,
  max: 32,
  pattern: "[a-zA-Z0-9](?:(?!--|__|\\.\\.)[a-zA-Z0-9._-])*[a-zA-Z0-9]",
};

function instancesOf({ store, body }: Call): number[] {
  return numbersOf(objectOf(body["devices"])[store.names.instanceIds]);
}

/** Checks that every device belongs to the account, and that the caller has write access to it. */
function guardDevices(call: Call, ids: readonly number[], field: string): Row<Instance>[] {
  const { store, caller } = call;
  const rows = ids.map((id) => {
    const row = store.table("instance").get(id);
    if (row?.home !== caller.account) throw invalid(`${field}: ${id} is not valid`, field);
    return row;
  });
  if (!rows.every((row) => canAccess(store.resource("instance"), row, "read_write", call))) throw forbidden();
  return rows;
}

function addDevice(view: CallContext, firewall: Row, instance: Row<Instance>): Row {
  const { store, at } = view;
  const table = store.table("firewallDevice");
  const id = table.nextId();
  const time = dateTime(at);
  const entity = toEntity(store.resource("instance"), instance);
  const value = { id, created: time, updated: time, entity };
  return table.add(childHome("firewall", firewall.id), id, value);
}

function writeRules(call: ActionCall): object {
  const { row, body } = call;
  const newRules = { ...open, ...objectOf(row.value["rules"]), ...body };
  row.value["rules"] = newRules;
  recordEvent(call, call.action.event ?? "", row);
  return newRules;
}

function switched(call: Call & { readonly row: Row }, before: UntypedRow): void {
  const { row } = call;
  const { status } = row.value;
  if (status === before["status"]) return;
  recordEvent(call, status === "enabled" ? "firewall_enable" : "firewall_disable", row);
}

export const firewall: Resource = {
  ...common,
  name: "firewall",
  path: "/networking/firewalls",
  grant: { entity: "firewall", add: "add_firewalls" },
  entity: { type: "firewall", url: "/v4beta/networking/firewalls/{id}" },
  fields: {
    id: { type: "integer", filter: true },
    label: { ...label, required: true, unique: "siblings", filter: true, write: true },
    created: { type: "date-time", filter: true },
    updated: { type: "date-time", filter: true },
    status: { type: "string", values: ["enabled", "disabled"], default: "enabled", write: true },
    rules: { type: "object", default: open },
    tags: { ...tags, filter: true, write: true },
  },
  list: {},
  read: true,
  create: {
    body: {
      label: { ...label, required: true, unique: "siblings" },
      rules: { type: "object", members: rules, required: true },
      tags,
      devices: { type: "object", members: { vms: { type: "integers", max: 100 } } },
    },
    event: "firewall_create",
    maxRows: 1000,
    validate: ({ body }) => portErrors(body["rules"], "rules."),
    checkPreconditions: (call) => void guardDevices(call, instancesOf(call), "devices"),
    afterCreate(call, row) {
      delete row.value["devices"];
      row.value["rules"] = { ...open, ...objectOf(call.body["rules"]) };
      for (const instance of guardDevices(call, instancesOf(call), "devices")) addDevice(call, row, instance);
    },
  },
  update: { event: "firewall_update", afterUpdate: switched },
  remove: { event: "firewall_delete" },
  actions: [
    { method: "GET", path: "/rules", run: ({ row }) => objectOf(row.value["rules"]) },
    {
      method: "PUT",
      path: "/rules",
      body: rules,
      event: "firewall_update",
      validate: ({ body }) => portErrors(body, ""),
      run: writeRules,
    },
  ],
};

export const firewallDevice: Resource = {
  ...common,
  name: "firewallDevice",
  path: "/devices",
  parent: "firewall",
  entity: { type: "firewall", url: "/v4beta/networking/firewalls/{id}", ofParent: true },
  fields: {
    id: { type: "integer", filter: true },
    created: { type: "date-time", filter: true },
    updated: { type: "date-time", filter: true },
    entity: { type: "object" },
  },
  list: {},
  read: true,
  create: {
    body: {
      id: { type: "integer", required: true },
      type: { type: "string", values: ["vm"], required: true },
    },
    event: "firewall_device_add",
    createRow(call) {
      const [instance] = guardDevices(call, [Number(call.body["id"])], "id");
      if (!instance) throw new Error("A device has an instance");
      recordEvent(call, call.resource.create?.event ?? "", parentOf(call));
      return addDevice(call, parentOf(call), instance);
    },
  },
  remove: { event: "firewall_device_remove" },
};

// Ports of a firewall rule: numbers and ranges, e.g. `22, 80-443` (V-164).

const mostParts = 15;

/** Validates the ports of all rules. @param prefix Prefix of the reported field names, e.g. `rules.`. */
function portErrors(rules: unknown, prefix: string): FieldError[] {
  return ["inbound", "outbound"].flatMap((way) =>
    objectsOf(objectOf(rules)[way]).flatMap(({ ports, protocol }, index): FieldError[] => {
      const reason = portError(ports, protocol);
      return reason ? [{ reason, field: `${prefix}${way}[${index}].ports` }] : [];
    }),
  );
}

function portError(ports: unknown, protocol: unknown): string | undefined {
  if (protocol === "ICMP") return ports ? "ICMP has no ports" : undefined;
  if (typeof ports !== "string" || ports === "") return undefined;
  const parts = ports.split(",").map((part) => part.trim());
  if (parts.length > mostParts) return `ports takes ${mostParts} numbers and spans at most`;
  return parts.map(partError).find((reason) => reason !== undefined);
}

function partError(part: string): string | undefined {
  const ends = part.split("-");
  if (ends.some((end) => /^0\d/.test(end))) return "Ports must not have leading zeroes";
  if (ends.length > 2 || !ends.every((end) => /^\d{1,5}$/.test(end)))
    return `${part} is not a port or a range of ports`;
  const [from = 0, to = from] = ends.map(Number);
  return from >= 1 && to <= 65_535 && from <= to ? undefined : `${part} is not a port or a range of ports`;
}
