/** The addresses of one instance (v4, Addresses and networking). */

import { invalid, notFound } from "../http/problem.ts";
import { recordEvent } from "../resource/events.ts";
import { serializeRow } from "../resource/list.ts";
import type { Row } from "../store/table.ts";
import { addPrivateAddress, addPublicAddress, addressesOf } from "./addresses.ts";
import type { InstanceCall } from "./instance-power.ts";
import { checkRdns } from "./rdns.ts";
import type { Address } from "./shapes.ts";

/** Support gives more. */
const mostPublic = 4;

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
  if (wantsPublic && same.length >= mostPublic)
    throw invalid("More public addresses need the approval of support; open a ticket", "public");
  recordEvent(call, action.event ?? "", row);
  return wantsPublic ? addPublicAddress(store, row) : addPrivateAddress(store, row);
}

/** @throws {Problem} 404 for an address that is not of this instance. */
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
  if (body["rdns"] !== undefined) address.value.rdns = body["rdns"] as string | null;
  recordEvent(call, action.event ?? "", row);
  return address;
}

/** A public one of IPv4, and never the last. */
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
