/** Support tickets, their replies and attachments (V-073 to V-075, V-080, V-114, V-156). */

import { dateTime } from "../../clock.ts";
import type { Fields } from "../../fields/field.ts";
import { stringsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { recordEvent, toEntity } from "../../resource/event-log.ts";
import { parentOf } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { Entity, RowTypes } from "../row-types.ts";
import { avatarOf } from "./user.ts";

const number = { type: "integer" } as const;
const entityMembers: Fields = {
  domain_id: number,
  vm_id: number,
  orchcluster_id: number,
  longviewclient_id: number,
  nodebalancer_id: number,
  volume_id: number,
};

/** The resource that each body member refers to. A ticket refers to at most one entity. */
function kinds({ store }: Call): Readonly<Record<string, keyof RowTypes | undefined>> {
  return {
    domain_id: "domain",
    [store.names.vmId]: "instance",
    [store.names.clusterId]: "cluster",
    nodebalancer_id: "nodebalancer",
    volume_id: "volume",
    longviewclient_id: undefined,
  };
}

function checkTicket(call: Call): FieldError[] {
  const { body } = call;
  const named = [...Object.keys(kinds(call)), "vlan"].filter((key) => body[key] !== undefined);
  if (named.length > 1) return named.map((field) => ({ reason: "A ticket is about one thing", field }));
  const errors: FieldError[] = [];
  const [field] = named;
  if (field === "vlan" && typeof body["region"] !== "string")
    errors.push({ reason: "region is required with vlan", field: "region" });
  else if (field !== undefined && field !== "vlan" && !findEntity(call))
    errors.push({ reason: `${field} is not valid`, field });
  return errors;
}

function findEntity(call: Call): Entity | null {
  const { store, caller, body } = call;
  for (const [member, name] of Object.entries(kinds(call))) {
    const row = body[member] === undefined || !name ? undefined : store.table(name).get(body[member]);
    if (name && row?.home === caller.account) return toEntity(store.resource(name), row);
  }
  return null;
}

const rank: Readonly<Record<string, number>> = { open: 0, new: 1, closed: 2 };

/** Sorts by status (open first), then by last update, newest first. */
function sortedTickets({ store, caller }: Call): readonly Row[] {
  const order = ({ value }: Row): number => rank[String(value["status"])] ?? 3;
  const updated = ({ value }: Row): string => String(value["updated"]);
  return [...store.table("ticket").inHome(caller.account)].sort(
    (a, b) => order(a) - order(b) || (updated(a) < updated(b) ? 1 : -1),
  );
}

const mostBytes = 5 * 1_048_576;
const allowedFileName = /^[^/\\]{1,200}\.(?:gif|jpe?g|pjpe?g|tiff?|png|pdf|txt)$/i;
const mostFiles = 20;

function attach(call: ActionCall): void {
  const { row, upload, action } = call;
  const field = "file";
  if (!upload) throw invalid("file is required, as multipart/form-data", field);
  if (!allowedFileName.test(upload.name))
    throw invalid("file must be a gif, jpg, tif, png, pdf or txt", field);
  if (upload.bytes.length > mostBytes) throw invalid(`file is longer than ${mostBytes} bytes`, field);
  const attachments = stringsOf(row.value["attachments"]);
  if (attachments.length >= mostFiles) throw invalid(`A ticket takes ${mostFiles} files`, field);
  attachments.push(upload.name);
  markUpdated(row, call);
  recordEvent(call, action.event ?? "", row);
}

function markUpdated({ value }: Row, { at, caller }: Call): void {
  Object.assign(value, { updated: dateTime(at), updated_by: caller.user });
}

const dated = { type: "date-time", filter: true } as const;

export const ticket: Resource = {
  name: "ticket",
  path: "/support/tickets",
  id: "integer",
  owner: "account",
  access: "required",
  area: "account",
  grant: "account",
  entity: {
    type: "ticket",
    url: "/v4/support/tickets/{id}",
    label: (value) => String(value["summary"]),
  },
  fields: {
    id: { type: "integer" },
    attachments: { type: "strings" },
    closed: { ...dated, nullable: true },
    closable: { type: "boolean", default: true },
    description: { type: "string" },
    entity: { type: "object", nullable: true },
    avatar_id: { type: "string" },
    opened: dated,
    opened_by: { type: "string" },
    status: { type: "string", values: ["new", "open", "closed"], default: "new" },
    summary: { type: "string" },
    updated: dated,
    updated_by: { type: "string", nullable: true },
  },
  list: { rows: sortedTickets },
  read: true,
  create: {
    body: {
      summary: { type: "string", min: 1, max: 64, required: true },
      description: { type: "string", min: 1, max: 65_000, required: true },
      ...entityMembers,
      vlan: { type: "string" },
      region: { type: "string" },
      managed_issue: { type: "boolean" },
    },
    rate: { limit: 2, seconds: 60 },
    maxRows: 2000,
    event: "ticket_create",
    validate: checkTicket,
    createRow(call) {
      const { store, caller, body, at, resource } = call;
      const id = store.table("ticket").nextId();
      const time = dateTime(at);
      const row = store.table("ticket").add(caller.account, id, {
        id,
        attachments: [],
        closed: null,
        closable: true,
        description: body["description"],
        entity: findEntity(call),
        avatar_id: avatarOf(caller.user),
        opened: time,
        opened_by: caller.user,
        status: "new",
        summary: body["summary"],
        updated: time,
        updated_by: null,
      });
      recordEvent(call, resource.create?.event ?? "", row);
      return row;
    },
  },
  actions: [
    {
      method: "POST",
      path: "/attachments",
      accepts: "file",
      event: "ticket_attachment_upload",
      run: attach,
    },
  ],
};

export const reply: Resource = {
  name: "reply",
  path: "/replies",
  parent: "ticket",
  id: "integer",
  owner: "account",
  access: "required",
  area: "account",
  entity: {
    type: "ticket",
    url: "/v4/support/tickets/{id}",
    ofParent: true,
    label: (value) => String(value["summary"]),
  },
  fields: {
    id: { type: "integer" },
    created: { type: "date-time" },
    created_by: { type: "string" },
    description: { type: "string", min: 1, max: 65_535, required: true, create: true },
    from_vm: { type: "boolean" },
    avatar_id: { type: "string" },
  },
  list: {},
  create: {
    event: "ticket_update",
    maxRows: 200,
    computeMembers: ({ caller }) => ({ created_by: caller.user, avatar_id: avatarOf(caller.user) }),
    afterCreate(call) {
      const ticket = parentOf(call);
      markUpdated(ticket, call);
      // A reply reopens a closed ticket.
      Object.assign(ticket.value, { status: "open", closed: null, closable: true });
    },
  },
};
