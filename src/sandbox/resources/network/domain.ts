/** Domains and their records. */

import { isIP } from "node:net";
import type { Field } from "../../fields/field.ts";
import type { FieldError } from "../../http/problem.ts";
import type { Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { roundUp } from "./domain-record.ts";
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

/** Checks a domain. A master domain needs `soa_email`, a slave domain needs `master_ips`. */
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
};
