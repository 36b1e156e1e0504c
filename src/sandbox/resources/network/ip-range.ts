/** IPv6 ranges, which accounts create, and predefined IPv6 pools (V-148). */

import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import type { Call, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { requireWritableInstance } from "../instances/instance-network.ts";
import type { Instance, Range, UntypedRow } from "../row-types.ts";

const both = ["ips:read_write", "vms:read_write"];
const common = { owner: "account", access: "required", area: "ips" } as const;
const fields = {
  range: { type: "string" },
  prefix: { type: "integer" },
  region: { type: "string", filter: true },
  route_target: { type: "string", nullable: true },
} as const;

function plain({ value }: Row<Range>): UntypedRow {
  const { range, prefix, region, route_target: target } = value;
  return { range, prefix, region, route_target: target };
}

function checkRange({ body, store }: Call): FieldError[] {
  const { vmId } = store.names;
  const given = [body[vmId], body["route_target"]].filter((each) => each !== undefined).length;
  const errors: FieldError[] = [];
  if (given !== 1) errors.push({ reason: `Give one of ${vmId} and route_target`, field: vmId });
  const length = body["prefix_length"];
  if (typeof length === "number" && length !== 54 && length !== 64)
    errors.push({ reason: "prefix_length is 54 or 64", field: "prefix_length" });
  return errors;
}

function targetOf(call: Call): Row<Instance> {
  const { store, caller, body } = call;
  const { vmId } = store.names;
  if (body[vmId] !== undefined) return requireWritableInstance(call, body[vmId], vmId);
  const address = store.table("address").get(body["route_target"]);
  if (address?.home !== caller.account || address.value.kind !== "slaac")
    throw invalid("route_target must be the SLAAC address of an instance, without /128", "route_target");
  return requireWritableInstance(call, address.value.instance, "route_target");
}

function makeRange(call: Call): Row<Range> {
  const { store, caller, body } = call;
  const target = targetOf(call).value;
  const table = store.table("range");
  const prefix = Number(body["prefix_length"]);
  const number = table.nextId();
  // Each range gets its own block of 2001:db8:e000::/36, large enough for both prefix lengths.
  const range = `2001:db8:e${(number >> 6).toString(16).padStart(3, "0")}:${((number & 63) << 10).toString(16)}::`;
  return table.add(caller.account, range, {
    range,
    prefix,
    region: target.region,
    route_target: target.ipv6?.replace(/\/\d+$/, "") ?? null,
    pool: false,
    instances: [target.id],
  });
}

export const range: Resource<Range> = {
  ...common,
  name: "range",
  path: "/networking/ipv6/ranges",
  id: "text",
  fields,
  list: {
    rows: ({ store, caller }) =>
      [...store.table("range").inHome(caller.account)].filter(({ value }) => !value.pool),
  },
  serialize: plain,
  scopes: { create: both },
  create: {
    body: {
      prefix_length: { type: "integer", required: true },
      vm_id: { type: "integer" },
      route_target: { type: "string" },
    },
    validate: checkRange,
    createRow: makeRange,
    buildResponse: ({ value }) => ({
      range: `${value.range}/${value.prefix}`,
      route_target: value.route_target,
    }),
  },
  remove: {
    checkPreconditions({ row, store }) {
      const shared = [...store.table("instance").all()].some((other) =>
        other.hidden?.shared?.includes(row.value.range),
      );
      if (shared) throw invalid("A range that is shared can't be deleted");
    },
  },
  actions: [
    {
      method: "GET",
      path: "",
      run: ({ row, store }) => ({
        range: row.value.range,
        prefix: row.value.prefix,
        region: row.value.region,
        is_bgp: false,
        [store.names.instanceIds]: row.value.instances,
      }),
    },
  ],
};

export const ipv6pool: Resource<Range> = {
  ...common,
  name: "ipv6pool",
  path: "/networking/ipv6/pools",
  table: "range",
  id: "text",
  fields,
  list: {
    rows: ({ store, caller }) =>
      [...store.table("range").inHome(caller.account)].filter(({ value }) => value.pool),
  },
  serialize: plain,
};
