/** The addresses of one instance (v4, Addresses and networking). */

import { invalid, notFound } from "../http/problem.ts";
import { record } from "../resource/events.ts";
import { shown } from "../resource/list.ts";
import type { Row } from "../store/table.ts";
import { addPrivateAddress, addPublicAddress, addressesOf } from "./addresses.ts";
import type { InstanceCall } from "./instance-power.ts";
import { checkRdns } from "./rdns.ts";
import type { Address } from "./shapes.ts";

/** Support gives more. */
const mostPublic = 4;

export function listIps(call: InstanceCall): object {
  const { world, row } = call;
  const resource = world.resource("address");
  const all = addressesOf(world, row);
  const ofKind = (kind: Address["kind"]): object[] =>
    all.filter(({ value }) => value.kind === kind).map((each) => shown(resource, each, call));
  const shared = (row.hidden?.shared ?? []).flatMap((each) => world.table("address").get(each) ?? []);
  const ranges = [...world.table("range").all()].filter(({ value }) =>
    value.instances.includes(row.value.id),
  );
  return {
    ipv4: {
      public: ofKind("public"),
      private: ofKind("private"),
      shared: shared.map((each) => shown(resource, each, call)),
      reserved: [],
    },
    ipv6: {
      link_local: ofKind("link-local")[0] ?? null,
      slaac: ofKind("slaac")[0] ?? null,
      global: ranges.map((each) => shown(world.resource("range"), each, call)),
    },
  };
}

export function addIp(call: InstanceCall): Row<Address> {
  const { world, row, body, action } = call;
  const wantsPublic = body["public"] === true;
  const same = addressesOf(world, row).filter(
    ({ value }) => value.kind === (wantsPublic ? "public" : "private"),
  );
  if (!wantsPublic && same.length > 0) throw invalid("The instance has a private address already", "public");
  if (wantsPublic && same.length >= mostPublic)
    throw invalid("More public addresses need the approval of support; open a ticket", "public");
  record(call, action.event ?? "", row);
  return wantsPublic ? addPublicAddress(world, row) : addPrivateAddress(world, row);
}

/** @throws {Problem} 404 for an address that is not of this instance. */
export function instanceIp({ world, row, params }: InstanceCall): Row<Address> {
  const address = world.table("address").get(params["address"]);
  if (!address || address.value.instance !== row.id) throw notFound();
  return address;
}

export function setRdns(call: InstanceCall): Row<Address> {
  const { body, row, action } = call;
  const address = instanceIp(call);
  const [fault] = checkRdns({ ...call, row: address });
  if (fault) throw invalid(fault.reason, fault.field);
  if (body["rdns"] !== undefined) address.value.rdns = body["rdns"] as string | null;
  record(call, action.event ?? "", row);
  return address;
}

/** A public one of IPv4, and never the last. */
export function removeIp(call: InstanceCall): void {
  const { world, row, action } = call;
  const { value } = instanceIp(call);
  if (value.kind !== "public") throw invalid("Only public IPv4 addresses can be removed");
  if (addressesOf(world, row).filter((each) => each.value.kind === "public").length === 1)
    throw invalid("The last public address can't be removed");
  row.value.ipv4 = row.value.ipv4.filter((each) => each !== value.address);
  world.table("address").remove(value.address);
  record(call, action.event ?? "", row);
}
