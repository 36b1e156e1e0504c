/** Addresses of the account, and moving and sharing them (document 1, IP address; v4, Addresses and networking). */

import type { Resource, CallContext } from "../resource/declaration.ts";
import type { Fields } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import { assign, share } from "./address-assign.ts";
import { addIpTo } from "./address-create.ts";
import { hasGrant } from "../resource/grants.ts";
import { checkRdns, defaultRdns } from "./rdns.ts";
import type { Address } from "./shapes.ts";

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

function shape({ address, kind }: Address): object {
  if (kind === "slaac") return { ...v6, public: true };
  if (kind === "link-local") return { ...v6, public: false };
  if (kind === "public") return { ...v4, gateway: address.replace(/(?<!\d)\d+$/, "1"), public: true };
  return { ...v4, gateway: null, subnet_mask: "255.255.128.0", prefix: 17, public: false };
}

function present({ value }: Row<Address>, { store }: CallContext): object {
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
    id: (value) => (value as Address).instance,
    label: (value) => (value as Address).address,
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
  /** Private addresses are told by their instance. */
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
    { on: "collection", method: "POST", path: "/assign", scopes: both, body: assignBody, run: assign },
    { on: "collection", method: "POST", path: "/share", scopes: both, body: shareBody, run: share },
    {
      on: "service",
      method: "POST",
      path: "/networking/ipv4/assign",
      scopes: both,
      body: assignBody,
      run: (call) => assign(call, "ipv4 only"),
    },
    {
      on: "service",
      method: "POST",
      path: "/networking/ipv4/share",
      scopes: both,
      body: shareBody,
      run: (call) => share(call, "ipv4 only"),
    },
  ],
};
