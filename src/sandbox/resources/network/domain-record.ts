/** Records of a domain: required members per type and name conflicts (V-158, V-165). */

import { isIPv4, isIPv6 } from "node:net";
import { stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { childHome } from "../../store/homes.ts";
import type { Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";

const types = ["A", "AAAA", "NS", "MX", "CNAME", "TXT", "SRV", "PTR", "CAA"];
/** Pattern of a host name, with or without the final period. */
const host = /^(?:[a-zA-Z0-9_](?:[a-zA-Z0-9_-]{0,62}))(?:\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*\.?$/;

const targets: Readonly<Record<string, (target: string) => boolean>> = {
  A: (target) => isIPv4(target) || target === "[remote_addr]",
  AAAA: (target) => isIPv6(target) || target === "[remote_addr]",
  NS: (target) => host.test(target),
  MX: (target) => target === "" || host.test(target),
  CNAME: (target) => host.test(target),
  SRV: (target) => host.test(target),
  PTR: (target) => host.test(target),
  TXT: (target) => target !== "",
  CAA: (target) => target !== "" && !target.endsWith("."),
};

function checkRecord(call: Call): FieldError[] {
  const { body } = call;
  const current = call.row?.value;
  const type = stringOf(current?.["type"] ?? body["type"]);
  const member = (key: string): unknown => (body[key] === undefined ? current?.[key] : body[key]);
  const errors: FieldError[] = [];
  const target = member("target");
  if (types.includes(type) && (typeof target !== "string" || !targets[type]?.(target)))
    errors.push({ reason: `target is not valid for ${type}`, field: "target" });
  if (type === "CNAME" && !member("name"))
    errors.push({ reason: "name is required for CNAME", field: "name" });
  if (type === "CAA" && !member("tag")) errors.push({ reason: "tag is required for CAA", field: "tag" });
  for (const needed of type === "SRV" ? ["priority", "weight", "port", "service", "protocol"] : []) {
    const missing = member(needed) === undefined || member(needed) === null;
    if (missing) errors.push({ reason: `${needed} is required for SRV`, field: needed });
  }
  return [...errors, ...conflicts(call, type, stringOf(member("name")))];
}

/** Returns errors of name conflicts. A name with a CNAME record must not have any other record (RFC 1034 section 3.6.2). */
function conflicts({ store, parents, row }: Call, type: string, name: string): FieldError[] {
  const others = [...store.table("record").inHome(childHome("domain", parents[0]?.id ?? ""))].filter(
    (other) => other !== row && String(other.value["name"]).toLowerCase() === name.toLowerCase(),
  );
  if (!types.includes(type)) return [];
  const current = new Set(others.map(({ value }) => String(value["type"])));
  const field = "name";
  if (type === "CNAME" && current.has("CNAME"))
    return [{ reason: "name is already in use by a CNAME", field }];
  const other = type === "CNAME" ? [...current][0] : type;
  if (other !== undefined && (type === "CNAME" || current.has("CNAME")))
    return [{ reason: `Record conflict: ${other} and CNAME can't have the same name`, field }];
  return [];
}

/** Normalizes a record: adds underscores to SRV names and rounds the TTL. */
function normalise({ row }: { row: Row }): void {
  const { value } = row;
  value["ttl_sec"] = roundToNearest(Number(value["ttl_sec"]));
  if (value["type"] !== "SRV") return;
  for (const key of ["service", "protocol"]) value[key] = `_${String(value[key]).replace(/^_+/, "")}`;
  value["name"] = `${String(value["service"])}.${String(value["protocol"])}`;
}

export const dnsRecord: Resource = {
  name: "record",
  path: "/records",
  parent: "domain",
  id: "integer",
  owner: "account",
  access: "required",
  area: "domains",
  entity: {
    type: "domain",
    url: "/v4/domains/{id}",
    ofParent: true,
    label: (value) => String(value["domain"]),
  },
  fields: {
    id: { type: "integer" },
    type: { type: "string", values: types, required: true, create: true },
    name: {
      type: "string",
      max: 100,
      pattern: "(?:(?:\\*|[a-zA-Z0-9_-]+)(?:\\.[a-zA-Z0-9_-]+)*\\.?)?",
      write: true,
    },
    target: { type: "string", max: 65_535, write: true },
    priority: { type: "integer", min: 0, max: 255, write: true },
    weight: { type: "integer", min: 0, max: 65_535, write: true },
    port: { type: "integer", min: 0, max: 65_535, write: true },
    service: { type: "string", nullable: true, write: true },
    protocol: { type: "string", nullable: true, write: true },
    ttl_sec: { type: "integer", min: 0, write: true },
    tag: {
      type: "string",
      nullable: true,
      values: ["issue", "issuewild", "iodef"],
      filter: true,
      write: true,
    },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  create: {
    event: "dns_record_create",
    maxRows: 5000,
    validate: checkRecord,
    afterCreate: (_call, row) => normalise({ row }),
  },
  update: { event: "dns_record_update", validate: checkRecord, afterUpdate: normalise },
  remove: { event: "dns_record_delete" },
};

// Allowed values of times, in seconds. Other values are rounded.

const steps = [
  0, 300, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200,
];
const most = 2_419_200;

/** Rounds a time of a domain up to the next allowed value, in seconds. */
export function roundUp(seconds: number): number {
  return steps.find((step) => step >= seconds) ?? most;
}

/** Rounds a TTL to the closest allowed value, in seconds; a tie goes to the longer one. */
function roundToNearest(seconds: number): number {
  return steps.reduce(
    (best, step) => (Math.abs(step - seconds) <= Math.abs(best - seconds) ? step : best),
    0,
  );
}
