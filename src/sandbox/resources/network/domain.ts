/** Domains and their records. */

import { isIP } from "node:net";
import { dateTime } from "../../clock.ts";
import type { Field, Fields } from "../../fields/field.ts";
import { stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { grantToCreator } from "../../resource/access-control.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { childHome } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { roundUp } from "./domain-record.ts";
import type { UntypedRow } from "../row-types.ts";
import { tags } from "../label-fields.ts";

const seconds: Field = { type: "integer", min: 0, write: true };
const ips: Field = { type: "strings", write: true };
const ipMembers = ["master_ips", "axfr_ips"];
const name: Field = {
  type: "string",
  min: 1,
  max: 255,
  pattern: "(\\*\\.)?([a-zA-Z0-9_-]{1,63}\\.)+([a-zA-Z]{2,3}\\.)?([a-zA-Z]{2,16}|xn--[a-zA-Z0-9]+)",
};
const secondsMembers = ["retry_sec", "expire_sec", "refresh_sec", "ttl_sec"];

/** A master domain needs `soa_email`, a slave domain needs `master_ips`. */
function checkDomain({ body, row }: Call): FieldError[] {
  const member = (key: string): unknown => (body[key] === undefined ? row?.value[key] : body[key]);
  const type = member("type");
  const errors: FieldError[] = [];
  if (type === "master" && !member("soa_email"))
    errors.push({ reason: "soa_email is required for a master domain", field: "soa_email" });
  const masters = member("master_ips");
  if (type === "slave" && !(Array.isArray(masters) && masters.length > 0))
    errors.push({ reason: "master_ips needs one at least for a slave domain", field: "master_ips" });
  for (const field of ipMembers) {
    const given: unknown[] = Array.isArray(body[field]) ? body[field] : [];
    const wrong = given.findIndex((each) => typeof each === "string" && isIP(each) === 0);
    if (wrong >= 0) errors.push({ reason: `${field}[${wrong}] must be an IP address`, field });
  }
  return errors;
}

function roundTimes({ row }: { row: Row }): void {
  for (const key of secondsMembers) row.value[key] = roundUp(Number(row.value[key]));
}

function cloneDomain(call: ActionCall): Row {
  const { store, row, body } = call;
  const newRow = addDomain(call, { ...structuredClone(row.value), domain: body["domain"] });
  for (const { value } of store.table("record").inHome(childHome("domain", row.id))) {
    const id = store.table("record").nextId();
    store.table("record").add(childHome("domain", newRow.id), id, { ...value, id });
  }
  recordEvent(call, call.action.event ?? "", newRow);
  return newRow;
}

/** Imports a domain without records: the sandbox does not perform a zone transfer. */
function importDomain(call: ActionCall): Row {
  const { domain } = call.body;
  const newRow = addDomain(call, { ...blankDomain, domain, soa_email: `dns@${String(domain)}` });
  recordEvent(call, call.action.event ?? "", newRow);
  return newRow;
}

const blankDomain = {
  type: "master",
  group: "",
  status: "active",
  description: "",
  retry_sec: 0,
  master_ips: [],
  axfr_ips: [],
  expire_sec: 0,
  refresh_sec: 0,
  ttl_sec: 0,
  tags: [],
};

function addDomain({ store, caller, resource, at }: Call, value: object): Row {
  const table = store.table("domain");
  const id = table.nextId();
  const created = dateTime(at);
  const newRow = table.add(caller.account, id, { ...value, id, created, updated: created });
  grantToCreator(resource, caller, id);
  return newRow;
}

function validateDomainName({ store, body }: Call): FieldError[] {
  const isTaken = [...store.table("domain").all()].some(({ value }) => value["domain"] === body["domain"]);
  return isTaken ? [{ reason: "domain is already in use", field: "domain" }] : [];
}

const copyBody: Fields = { domain: { ...name, required: true } };

export const domain: Resource = {
  name: "domain",
  path: "/domains",
  id: "integer",
  owner: "account",
  access: "required",
  area: "domains",
  grant: { entity: "domain", add: "add_domains" },
  entity: {
    type: "domain",
    url: "/v4/domains/{id}",
    label: (value) => String(value["domain"]),
  },
  fields: {
    id: { type: "integer" },
    type: { type: "string", values: ["master", "slave"], required: true, write: true },
    domain: { ...name, required: true, unique: "everywhere", filter: true, write: true },
    group: { type: "string", max: 50, filter: true, write: true },
    status: { type: "string", values: ["active", "disabled"], default: "active", write: true },
    description: { type: "string", max: 255, write: true },
    soa_email: { type: "string", max: 255, pattern: "(?:[^@\\s]+@[^@\\s]+)?", write: true },
    retry_sec: seconds,
    master_ips: ips,
    axfr_ips: ips,
    expire_sec: seconds,
    refresh_sec: seconds,
    ttl_sec: seconds,
    tags: { ...tags, filter: true, write: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  create: {
    event: "dns_zone_create",
    validate: checkDomain,
    afterCreate: (_call, row) => roundTimes({ row }),
  },
  update: { event: "dns_zone_update", validate: checkDomain, afterUpdate: roundTimes },
  remove: { event: "dns_zone_delete" },
  actions: [
    { method: "GET", path: "/zone-file", run: zoneFile },
    {
      method: "POST",
      path: "/clone",
      body: copyBody,
      event: "dns_zone_create",
      returnsRow: "domain",
      validate: validateDomainName,
      run: cloneDomain,
    },
    {
      on: "collection",
      method: "POST",
      path: "/import",
      grant: "add",
      body: { ...copyBody, remote_nameserver: { type: "string", min: 1, required: true } },
      event: "dns_zone_import",
      returnsRow: "domain",
      validate: validateDomainName,
      run: importDomain,
    },
  ],
};

// A domain as a zone file (RFC 1035 section 5.1), one line per record.

function zoneFile({ store, row }: ActionCall): object {
  const { domain, id, soa_email: email, ttl_sec: ttl } = row.value;
  const records = [...store.table("record").inHome(childHome("domain", row.id))].map(({ value }) =>
    line(value),
  );
  return {
    zone_file: [
      `; ${String(domain)} [${String(id)}]`,
      `$TTL ${Number(ttl) || 86_400}`,
      `@\tIN\tSOA\tns1.example.com. ${String(email).replace("@", ".")}. 1 14400 14400 1209600 86400`,
      ...records,
    ],
  };
}

function line({
  name,
  ttl_sec: ttl,
  type,
  priority,
  weight,
  port,
  target,
  service,
  protocol,
}: UntypedRow): string {
  const host = type === "SRV" ? `${String(service)}.${String(protocol)}` : stringOf(name) || "@";
  const before = type === "MX" ? [priority] : type === "SRV" ? [priority, weight, port] : [];
  const value = type === "TXT" ? JSON.stringify(target) : target;
  return [host, ttl || "", "IN", type, ...before, value].join("\t");
}
