/** Addresses of the account, their assignment and sharing (V-063 to V-069, V-110 to V-113, V-147). */

import type { Fields } from "../../fields/field.ts";
import { objectsOf, stringsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { Problem, invalid } from "../../http/problem.ts";
import { hasGrant } from "../../resource/access-control.ts";
import type { Call, CallContext, Resource, Store } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { addIpTo, checkRdns, defaultRdns, requireWritableInstance } from "../instances/instance-network.ts";
import type { Address, Instance, Range, UntypedRow } from "../row-types.ts";

const both = ["ips:read_write", "vms:read_write"];

const assignBody: Fields = {
  region: { type: "string", required: true },
  assignments: {
    type: "objects",
    required: true,
    min: 1,
    max: 100,
    members: {
      address: { type: "string", required: true },
      vm_id: { type: "integer", required: true },
    },
  },
};
const shareBody: Fields = {
  vm_id: { type: "integer", required: true },
  ips: { type: "strings", required: true, max: 100 },
};

const v4 = { subnet_mask: "255.255.255.0", prefix: 24, type: "ipv4" };
const v6 = { gateway: "fe80::1", subnet_mask: "ffff:ffff:ffff:ffff::", prefix: 64, type: "ipv6" };

function shape({ address, kind }: Address): UntypedRow {
  if (kind === "slaac") return { ...v6, public: true };
  if (kind === "link-local") return { ...v6, public: false };
  if (kind === "public") return { ...v4, gateway: address.replace(/(?<!\d)\d+$/, "1"), public: true };
  return { ...v4, gateway: null, subnet_mask: "255.255.128.0", prefix: 17, public: false };
}

function present({ value }: Row<Address>, { store }: CallContext): UntypedRow {
  const { address, instance, rdns } = value;
  return {
    address,
    ...shape(value),
    rdns: rdns ?? defaultRdns(value),
    [store.names.vmId]: instance,
    region: store.table("instance").get(instance)?.value.region ?? "",
  };
}

export const address: Resource<Address> = {
  name: "address",
  path: "/networking/ips",
  id: "text",
  owner: "account",
  access: "required",
  area: "ips",
  entity: {
    type: "ipaddress",
    url: "/v4/networking/ips/{id}",
    id: (value) => value.instance,
    label: (value) => value.address,
  },
  fields: {
    address: { type: "string" },
    gateway: { type: "string", nullable: true },
    subnet_mask: { type: "string" },
    prefix: { type: "integer" },
    type: { type: "string" },
    public: { type: "boolean" },
    rdns: { type: "string", nullable: true, max: 255, write: true },
    vm_id: { type: "integer", nullable: true },
    region: { type: "string", filter: true },
  },
  /** Private addresses appear only in the list of their instance. */
  list: {
    rows: ({ store, caller }) =>
      [...store.table("address").inHome(caller.account)].filter(
        ({ value }) => value.kind === "public" || value.kind === "slaac",
      ),
  },
  read: true,
  isVisible: ({ value }, { caller, store }, level) =>
    hasGrant(caller, store.names.label, value.instance, level),
  serialize: present,
  scopes: { create: both },
  create: {
    body: {
      type: { type: "string", required: true, values: ["ipv4"] },
      public: { type: "boolean", required: true },
      vm_id: { type: "integer", required: true },
    },
    createRow: addIpTo,
  },
  update: { event: "ipaddress_update", validate: checkRdns },
  actions: [
    {
      on: "collection",
      method: "POST",
      path: "/assign",
      scopes: both,
      body: assignBody,
      run: assignAddresses,
    },
    { on: "collection", method: "POST", path: "/share", scopes: both, body: shareBody, run: shareAddresses },
    {
      on: "service",
      method: "POST",
      path: "/networking/ipv4/assign",
      scopes: both,
      body: assignBody,
      run: (call) => assignAddresses(call, "ipv4 only"),
    },
    {
      on: "service",
      method: "POST",
      path: "/networking/ipv4/share",
      scopes: both,
      body: shareBody,
      run: (call) => shareAddresses(call, "ipv4 only"),
    },
  ],
};

// Assigns addresses to other instances of the region, and shares addresses between instances.

type Movable = { readonly address: Row<Address> } | { readonly range: Row<Range> };

interface Move {
  readonly item: Movable;
  readonly to: Row<Instance>;
}

/** Assigns all addresses or none. The result must leave each instance a valid number of addresses. */
function assignAddresses(call: Call, families?: "ipv4 only"): void {
  const { store, body } = call;
  if (!store.table("region").get(body["region"])) throw invalid("region is not valid", "region");
  const errors: FieldError[] = [];
  const moves = objectsOf(body["assignments"]).flatMap((each, index) => {
    const field = `assignments[${index}]`;
    const to = requireWritableInstance(call, each[store.names.vmId], `${field}.${store.names.vmId}`);
    const item = findMovable(call, String(each["address"]), families);
    if (typeof item === "string") errors.push({ reason: item, field: `${field}.address` });
    else if (regionOf(store, item) !== body["region"] || to.value.region !== body["region"])
      errors.push({ reason: "Addresses and instances must all be in the region", field });
    else return [{ item, to }];
    return [];
  });
  errors.push(...checkCounts(store, moves));
  if (errors.length > 0) throw new Problem(400, errors);
  for (const move of moves) applyMove(store, move);
}

/** Returns the row of the address or range, or the reason why it can't be moved. */
function findMovable({ store, caller }: Call, text: string, families?: "ipv4 only"): Movable | string {
  const address = store.table("address").get(text);
  if (address?.home === caller.account) {
    const { kind } = address.value;
    return kind === "public" || kind === "private"
      ? { address }
      : `${text} belongs to its instance permanently`;
  }
  const range = families ? undefined : store.table("range").get(text.replace(/\/\d+$/, ""));
  if (range?.home !== caller.account || range.value.pool) return `${text} is not valid`;
  return { range };
}

function regionOf(store: Store, item: Movable): string | undefined {
  if ("range" in item) return item.range.value.region;
  return store.table("instance").get(item.address.value.instance)?.value.region;
}

/** Checks that each instance keeps at least one public address, and at most one private address and one range. */
function checkCounts(store: Store, moves: readonly Move[]): FieldError[] {
  const owner = new Map<Row, number>();
  for (const { item, to } of moves) owner.set("range" in item ? item.range : item.address, to.value.id);
  const concerned = new Set(
    moves.flatMap(({ item, to }) =>
      "range" in item ? [to.value.id] : [item.address.value.instance, to.value.id],
    ),
  );
  const field = "assignments";
  return [...concerned].flatMap((id): FieldError[] => {
    const count = (kind: Address["kind"]): number =>
      [...store.table("address").all()].filter(
        (row) => row.value.kind === kind && (owner.get(row) ?? row.value.instance) === id,
      ).length;
    const ranges = [...store.table("range").all()].filter(
      (row) => !row.value.pool && (owner.has(row) ? owner.get(row) === id : row.value.instances.includes(id)),
    );
    if (count("public") < 1) return [{ reason: `${id} would be left without a public address`, field }];
    if (count("private") > 1) return [{ reason: `${id} would have two private addresses`, field }];
    return ranges.length > 1 ? [{ reason: `${id} would have two ranges`, field }] : [];
  });
}

function applyMove(store: Store, { item, to }: Move): void {
  if ("range" in item) {
    item.range.value.instances = [to.value.id];
    item.range.value.route_target = to.value.ipv6?.replace(/\/\d+$/, "") ?? null;
    return;
  }
  const { value } = item.address;
  const from = store.table("instance").get(value.instance)?.value;
  if (from) from.ipv4 = from.ipv4.filter((each) => each !== value.address);
  value.instance = to.value.id;
  const { ipv4 } = to.value;
  // Public addresses are listed before private ones.
  if (value.kind === "private") ipv4.push(value.address);
  else
    ipv4.splice(
      ipv4.filter((each) => store.table("address").get(each)?.value.kind === "public").length,
      0,
      value.address,
    );
}

/** Sets the addresses shared with an instance; `[]` removes all. */
function shareAddresses(call: Call, families?: "ipv4 only"): void {
  const { store, body } = call;
  const { vmId } = store.names;
  const row = requireWritableInstance(call, body[vmId], vmId);
  const ips = stringsOf(body["ips"]);
  const errors = ips.flatMap((ip, index): FieldError[] => {
    const field = `ips[${index}]`;
    const item = findMovable(call, ip, families);
    if (typeof item === "string") return [{ reason: item, field }];
    if (regionOf(store, item) !== row.value.region) return [{ reason: `${ip} is in another region`, field }];
    const isOwn = "address" in item && item.address.value.instance === row.id;
    return isOwn ? [{ reason: `${ip} is the instance's own`, field }] : [];
  });
  if (errors.length > 0) throw new Problem(400, errors);
  row.hidden = { ...row.hidden, shared: [...ips] };
}
