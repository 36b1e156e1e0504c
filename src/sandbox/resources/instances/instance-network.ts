/** Addresses, reverse DNS and attached network resources of an instance. */

import type { FieldError } from "../../http/problem.ts";
import { invalid, notFound } from "../../http/problem.ts";
import { requireAccess } from "../../resource/access-control.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { childHome } from "../../store/homes.ts";
import { serializeRow } from "../../resource/list-handler.ts";
import type { Call, CallContext, RowCall, Store } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { addPrivateAddress, addPublicAddress, addressesOf } from "../network/address-allocation.ts";
import type { InstanceCall } from "./instance-power.ts";
import type { Address, Instance } from "../row-types.ts";

/** Maximum number of public addresses, unless support raises it. */
const maxPublicAddresses = 4;

export function listIps(call: InstanceCall): object {
  const { store, row } = call;
  const resource = store.resource("address");
  const all = addressesOf(store, row);
  const ofKind = (kind: Address["kind"]): object[] =>
    all.filter(({ value }) => value.kind === kind).map((each) => serializeRow(resource, each, call));
  const shared = (row.hidden?.shared ?? []).flatMap((each) => store.table("address").get(each) ?? []);
  const ranges = [...store.table("range").all()].filter(({ value }) =>
    value.instances.includes(row.value.id),
  );
  return {
    ipv4: {
      public: ofKind("public"),
      private: ofKind("private"),
      shared: shared.map((each) => serializeRow(resource, each, call)),
      reserved: [],
    },
    ipv6: {
      link_local: ofKind("link-local")[0] ?? null,
      slaac: ofKind("slaac")[0] ?? null,
      global: ranges.map((each) => serializeRow(store.resource("range"), each, call)),
    },
  };
}

export function addIp(call: InstanceCall): Row<Address> {
  const { store, row, body, action } = call;
  const wantsPublic = body["public"] === true;
  const same = addressesOf(store, row).filter(
    ({ value }) => value.kind === (wantsPublic ? "public" : "private"),
  );
  if (!wantsPublic && same.length > 0) throw invalid("The instance has a private address already", "public");
  if (wantsPublic && same.length >= maxPublicAddresses)
    throw invalid("More public addresses need the approval of support; open a ticket", "public");
  recordEvent(call, action.event ?? "", row);
  return wantsPublic ? addPublicAddress(store, row) : addPrivateAddress(store, row);
}

/** Returns the address that the path names. @throws {Problem} 404 if it does not belong to the instance. */
export function instanceIp({ store, row, params }: InstanceCall): Row<Address> {
  const address = store.table("address").get(params["address"]);
  if (!address || address.value.instance !== row.id) throw notFound();
  return address;
}

export function setRdns(call: InstanceCall): Row<Address> {
  const { body, row, action } = call;
  const address = instanceIp(call);
  const [fieldError] = checkRdns({ ...call, row: address });
  if (fieldError) throw invalid(fieldError.reason, fieldError.field);
  const { rdns } = body;
  if (rdns === null || typeof rdns === "string") address.value.rdns = rdns;
  recordEvent(call, action.event ?? "", row);
  return address;
}

/** Removes a public IPv4 address, unless it is the instance's last one. */
export function removeIp(call: InstanceCall): void {
  const { store, row, action } = call;
  const { value } = instanceIp(call);
  if (value.kind !== "public") throw invalid("Only public IPv4 addresses can be removed");
  if (addressesOf(store, row).filter((each) => each.value.kind === "public").length === 1)
    throw invalid("The last public address can't be removed");
  row.value.ipv4 = row.value.ipv4.filter((each) => each !== value.address);
  store.table("address").remove(value.address);
  recordEvent(call, action.event ?? "", row);
}

// POST /networking/ips: adds an address to an instance.

/**
 * Returns the instance that a body member names. @throws {Problem} 400 if it does not belong to the account, 403 if
 * write access is missing.
 */
export function requireWritableInstance(call: Call, id: unknown, field: string): Row<Instance> {
  const row = call.store.table("instance").get(id);
  if (row?.home !== call.caller.account) throw invalid(`${field} is not valid`, field);
  requireAccess(call.store.resource("instance"), row, "read_write", call);
  return row;
}

export function addIpTo(call: Call): Row<Address> {
  const { store, body } = call;
  const { vmId } = store.names;
  const row = requireWritableInstance(call, body[vmId], vmId);
  const instance = store.resource("instance");
  const action = instance.actions?.find(({ path, method }) => path === "/ips" && method === "POST");
  if (!action) throw new Error("An instance takes no addresses");
  return addIp({ ...call, resource: instance, row, action });
}

// Reverse DNS: a name is valid if it resolves to the address (V-112).

/** Default reverse DNS name of a public IPv4 address; null for other addresses. */
export function defaultRdns({ address, kind }: Address): string | null {
  return kind === "public" ? `${address.replaceAll(".", "-")}.ip.usercontent.example.com` : null;
}

export function checkRdns({ store, body, row }: RowCall<Address> & CallContext): FieldError[] {
  const name = body["rdns"];
  const field = "rdns";
  if (typeof name !== "string") return [];
  const { address, kind } = row.value;
  if (kind === "private" || kind === "link-local")
    return [{ reason: "Only public addresses have reverse DNS", field }];
  if (name === defaultRdns(row.value) || resolvesTo(store, name, address)) return [];
  return [{ reason: `${name} doesn't lead to ${address}: set up the record first`, field }];
}

/** Whether a record of an active domain in the sandbox resolves the name to the address. */
function resolvesTo(store: Store, name: string, address: string): boolean {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  for (const { id, value } of store.table("domain").all()) {
    const domain = String(value["domain"]).toLowerCase();
    if (value["status"] !== "active" || (wanted !== domain && !wanted.endsWith(`.${domain}`))) continue;
    const host = wanted.slice(0, Math.max(0, wanted.length - domain.length - 1));
    for (const { value: record } of store.table("record").inHome(childHome("domain", id))) {
      const { type, name: named, target } = record;
      if ((type === "A" || type === "AAAA") && String(named).toLowerCase() === host && target === address)
        return true;
    }
  }
  return false;
}

// Volumes of an instance.

export function linkedVolumes({ store, caller, row }: InstanceCall): Row[] {
  return [...store.table("volume").inHome(caller.account)].filter(({ value }) => value.instance === row.id);
}
