/**
 * The addresses of an instance, from its region and its number: the same instance has the same ones at every
 * start. They come out of ranges that no one routes (RFC 2544 198.18.0.0/15, RFC 1918, RFC 3849 2001:db8::/32),
 * of which each region has a network of its own.
 */

import type { Store } from "../store/sandbox-store.ts";
import type { Row } from "../store/store-table.ts";
import { publicHome } from "../store/store-table.ts";
import type { Address, Instance } from "./row-types.ts";

/** Of a network of 256 addresses its own, the gateway's and the last one are no host's. */
const hostsOfNetwork = 253;
/** Networks of 256 addresses that a region has in each half of 198.18.0.0/15. */
const networks = 16;
const hostsOfRegion = hostsOfNetwork * networks * 2;
/** The first network of the first region, and the number that its first host comes from. */
const [firstNetwork, firstNumber] = [20, 5122];
/** In front of the addresses of all regions but the first. */
const firstPrefix = 0x3c00;
const privateHosts = 0x7fff;

function placeOf(store: Store, region: string): number {
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

/** @throws {Error} where all are taken (v4, Error answers: an address that can't be allocated is a 500). */
function firstFree(store: Store, address: (number: number) => string, from: number, most: number): string {
  for (let number = from; number < from + most; number += 1) {
    const text = address(number);
    if (!store.table("address").get(text)) return text;
  }
  throw new Error("There is no free address");
}

/** A public address in the network of the region that nobody has. */
export function freePublicAddress(store: Store, region: string, number: number): string {
  const place = placeOf(store, region);
  return firstFree(store, (each) => publicAddress(place, each), number, hostsOfRegion);
}

/** A private address that nobody has. */
export function freePrivateAddress(store: Store, number: number): string {
  return firstFree(store, privateAddress, number, privateHosts);
}

function interfaceOf(id: number): string {
  const [high, low] = [(id >> 16) & 0xff, id & 0xffff];
  return `f03c:92ff:fe${high.toString(16).padStart(2, "0")}:${low.toString(16).padStart(4, "0")}`;
}

/** As v4 writes it: with its prefix length. */
export function ipv6(store: Store, region: string, id: number): string {
  const place = placeOf(store, region);
  const network = place === 0 ? "2001:db8" : `2001:db8:${(firstPrefix + place).toString(16)}`;
  return `${network}::${interfaceOf(id)}/128`;
}

function linkLocal(id: number): string {
  return `fe80::${interfaceOf(id)}`;
}

/** Extra addresses come from the other half of the region's network. */
export function addPublicAddress(store: Store, row: Row<Instance>): Row<Address> {
  const number = row.value.id + hostsOfRegion / 2;
  const address = freePublicAddress(store, row.value.region, number);
  const { ipv4 } = row.value;
  const firstPrivate = ipv4.findIndex((each) => isPrivate(each));
  ipv4.splice(firstPrivate < 0 ? ipv4.length : firstPrivate, 0, address);
  return keepAddress(store, row, address, "public");
}

export function addPrivateAddress(store: Store, row: Row<Instance>): Row<Address> {
  const address = freePrivateAddress(store, row.value.id);
  row.value.ipv4.push(address);
  return keepAddress(store, row, address, "private");
}

/** Makes the addresses that an instance names known one by one. */
export function keepAddresses(store: Store, row: Row<Instance>): void {
  for (const address of row.value.ipv4)
    keepAddress(store, row, address, isPrivate(address) ? "private" : "public");
  if (row.value.ipv6 === null) return;
  keepAddress(store, row, slaacOf(row.value.ipv6), "slaac");
  keepAddress(store, row, linkLocal(row.value.id), "link-local");
}

/** The addresses of an instance are in the order of its own list, those of IPv6 behind. */
export function addressesOf(store: Store, { value }: Row<Instance>): Row<Address>[] {
  const v6 = value.ipv6 === null ? [] : [slaacOf(value.ipv6), linkLocal(value.id)];
  return [...value.ipv4, ...v6].flatMap((each) => store.table("address").get(each) ?? []);
}

/** What stays of an address when its instance is gone: nothing, of those that it was made with. */
export function dropAddresses(store: Store, instance: Row<Instance>): void {
  for (const { id } of addressesOf(store, instance)) store.table("address").remove(id);
}

/** Gives an instance that has come to another region addresses of that region, as many as it had. */
export function renumber(store: Store, row: Row<Instance>): void {
  const { value } = row;
  const { id, region } = value;
  const before = value.ipv4;
  const held = addressesOf(store, row);
  const taken: string[] = [];
  for (const each of before) {
    const address = isPrivate(each)
      ? freePrivateAddress(store, id)
      : freePublicAddress(store, region, taken.length === 0 ? id : id + hostsOfRegion / 2);
    store.table("address").add(row.home, address, {
      address,
      kind: isPrivate(each) ? "private" : "public",
      rdns: null,
      instance: id,
    });
    taken.push(address);
  }
  for (const each of held) store.table("address").remove(each.id);
  value.ipv4 = taken;
  if (value.ipv6 !== null) value.ipv6 = ipv6(store, region, id);
  keepAddresses(store, row);
}

function isPrivate(address: string): boolean {
  return address.startsWith("192.168.");
}

function slaacOf(ipv6: string): string {
  return ipv6.slice(0, ipv6.indexOf("/"));
}

function keepAddress(
  store: Store,
  { home, value }: Row<Instance>,
  address: string,
  kind: Address["kind"],
): Row<Address> {
  return store.table("address").add(home, address, { address, kind, rdns: null, instance: value.id });
}
