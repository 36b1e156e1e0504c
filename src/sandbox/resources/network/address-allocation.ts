/**
 * Derives the addresses of an instance from its region and id, so that they are the same at every
 * start. All addresses are in unrouted ranges (RFC 2544 198.18.0.0/15, RFC 1918, RFC 3849 2001:db8::/32).
 * Each region has its own network.
 */

import type { Row } from "../../store/store-table.ts";
import { publicHome } from "../../store/homes.ts";
import type { Address, Instance } from "../row-types.ts";
import type { Store } from "../../resource/resource-declaration.ts";

/** Usable hosts of a /24: the network, gateway and broadcast addresses are excluded. */
const hostsOfNetwork = 253;
/** Number of /24 networks per region, in each half of 198.18.0.0/15. */
const networks = 16;
const hostsOfRegion = hostsOfNetwork * networks * 2;
/** Third octet of the first region's first network, and the instance id that maps to its first host. */
const [firstNetwork, firstNumber] = [20, 5122];
/** Offset of the IPv6 prefixes of all regions except the first. */
const firstPrefix = 0x3c00;
const privateHosts = 0x7fff;

function regionIndex(store: Store, region: string): number {
  const ids = [...store.table("region").inHome(publicHome)].map(({ value }) => value.id);
  return Math.max(0, ids.indexOf(region));
}

function publicAddress(place: number, number: number): string {
  const host = (((number - firstNumber) % hostsOfRegion) + hostsOfRegion) % hostsOfRegion;
  const network = Math.floor(host / hostsOfNetwork);
  const third = firstNetwork + place * networks + (network % networks);
  return `198.${18 + Math.floor(network / networks)}.${third}.${2 + (host % hostsOfNetwork)}`;
}

function privateAddress(number: number): string {
  return `192.168.${128 + ((number >> 8) & 127)}.${number & 255}`;
}

/** Returns the first unused address. @throws {Error} if all addresses are used, which is a 500 (V-194). */
function firstFree(store: Store, address: (number: number) => string, from: number, most: number): string {
  for (let number = from; number < from + most; number += 1) {
    const text = address(number);
    if (!store.table("address").get(text)) return text;
  }
  throw new Error("There is no free address");
}

/** Returns an unused public address of the region. */
export function freePublicAddress(store: Store, region: string, number: number): string {
  const place = regionIndex(store, region);
  return firstFree(store, (each) => publicAddress(place, each), number, hostsOfRegion);
}

/** Returns an unused private address. */
export function freePrivateAddress(store: Store, number: number): string {
  return firstFree(store, privateAddress, number, privateHosts);
}

function interfaceOf(id: number): string {
  const [high, low] = [(id >> 16) & 0xff, id & 0xffff];
  return `f03c:92ff:fe${high.toString(16).padStart(2, "0")}:${low.toString(16).padStart(4, "0")}`;
}

/** Returns the SLAAC address of an instance with its prefix length, in v4's format. */
export function ipv6(store: Store, region: string, id: number): string {
  const place = regionIndex(store, region);
  const network = place === 0 ? "2001:db8" : `2001:db8:${(firstPrefix + place).toString(16)}`;
  return `${network}::${interfaceOf(id)}/128`;
}

function linkLocal(id: number): string {
  return `fe80::${interfaceOf(id)}`;
}

/** Adds a public address. Additional addresses come from the other half of the region's network. */
export function addPublicAddress(store: Store, row: Row<Instance>): Row<Address> {
  const number = row.value.id + hostsOfRegion / 2;
  const address = freePublicAddress(store, row.value.region, number);
  const { ipv4 } = row.value;
  const firstPrivate = ipv4.findIndex((each) => isPrivate(each));
  ipv4.splice(firstPrivate < 0 ? ipv4.length : firstPrivate, 0, address);
  return addAddressRow(store, row, address, "public");
}

export function addPrivateAddress(store: Store, row: Row<Instance>): Row<Address> {
  const address = freePrivateAddress(store, row.value.id);
  row.value.ipv4.push(address);
  return addAddressRow(store, row, address, "private");
}

/** Adds a row for each address that the instance lists. */
export function addAddressRows(store: Store, row: Row<Instance>): void {
  for (const address of row.value.ipv4)
    addAddressRow(store, row, address, isPrivate(address) ? "private" : "public");
  if (row.value.ipv6 === null) return;
  addAddressRow(store, row, slaacOf(row.value.ipv6), "slaac");
  addAddressRow(store, row, linkLocal(row.value.id), "link-local");
}

/** Returns the address rows of an instance in the order of its `ipv4` list, IPv6 last. */
export function addressesOf(store: Store, { value }: Row<Instance>): Row<Address>[] {
  const v6 = value.ipv6 === null ? [] : [slaacOf(value.ipv6), linkLocal(value.id)];
  return [...value.ipv4, ...v6].flatMap((each) => store.table("address").get(each) ?? []);
}

/** Deletes all addresses of an instance. */
export function deleteAddresses(store: Store, instance: Row<Instance>): void {
  for (const { id } of addressesOf(store, instance)) store.table("address").remove(id);
}

/** Replaces the addresses of a migrated instance by as many addresses of its new region. */
export function replaceAddresses(store: Store, row: Row<Instance>): void {
  const { value } = row;
  const { id, region } = value;
  const before = value.ipv4;
  const current = addressesOf(store, row);
  const newAddresses: string[] = [];
  for (const each of before) {
    const address = isPrivate(each)
      ? freePrivateAddress(store, id)
      : freePublicAddress(store, region, newAddresses.length === 0 ? id : id + hostsOfRegion / 2);
    store.table("address").add(row.home, address, {
      address,
      kind: isPrivate(each) ? "private" : "public",
      rdns: null,
      instance: id,
    });
    newAddresses.push(address);
  }
  for (const each of current) store.table("address").remove(each.id);
  value.ipv4 = newAddresses;
  if (value.ipv6 !== null) value.ipv6 = ipv6(store, region, id);
  addAddressRows(store, row);
}

function isPrivate(address: string): boolean {
  return address.startsWith("192.168.");
}

function slaacOf(ipv6: string): string {
  return ipv6.slice(0, ipv6.indexOf("/"));
}

function addAddressRow(
  store: Store,
  { home, value }: Row<Instance>,
  address: string,
  kind: Address["kind"],
): Row<Address> {
  return store.table("address").add(home, address, { address, kind, rdns: null, instance: value.id });
}
