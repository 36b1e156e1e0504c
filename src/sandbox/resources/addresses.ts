/**
 * The addresses of an instance, from its number: the same instance has the same ones at every start. They
 * come out of ranges that no one routes (RFC 2544 198.18.0.0/15, RFC 1918, RFC 3849 2001:db8::/32).
 */

import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { Address, Instance } from "./shapes.ts";

export function publicAddress(id: number): string {
  return `198.${18 + ((id >> 16) & 1)}.${(id >> 8) & 255}.${id & 255}`;
}

export function privateAddress(id: number): string {
  return `192.168.${128 + ((id >> 8) & 127)}.${id & 255}`;
}

function interfaceOf(id: number): string {
  const [high, low] = [(id >> 16) & 0xff, id & 0xffff];
  return `f03c:92ff:fe${high.toString(16).padStart(2, "0")}:${low.toString(16).padStart(4, "0")}`;
}

/** As v4 writes it: with its prefix length. */
export function ipv6(id: number): string {
  return `2001:db8::${interfaceOf(id)}/128`;
}

export function linkLocal(id: number): string {
  return `fe80::${interfaceOf(id)}`;
}

/** Extra addresses come from the other end of the range that instances are numbered from. */
export function addPublicAddress(world: World, row: Row<Instance>): Row<Address> {
  const address = publicAddress(0x1fffe - world.table("address").nextId());
  const { ipv4 } = row.value;
  const firstPrivate = ipv4.findIndex((each) => isPrivate(each));
  ipv4.splice(firstPrivate < 0 ? ipv4.length : firstPrivate, 0, address);
  return keepAddress(world, row, address, "public");
}

export function addPrivateAddress(world: World, row: Row<Instance>): Row<Address> {
  const address = privateAddress(row.value.id);
  row.value.ipv4.push(address);
  return keepAddress(world, row, address, "private");
}

/** Makes the addresses that an instance names known one by one. */
export function keepAddresses(world: World, row: Row<Instance>): void {
  for (const address of row.value.ipv4)
    keepAddress(world, row, address, isPrivate(address) ? "private" : "public");
  if (row.value.ipv6 === null) return;
  keepAddress(world, row, slaacOf(row.value.ipv6), "slaac");
  keepAddress(world, row, linkLocal(row.value.id), "link-local");
}

/** The addresses of an instance are in the order of its own list, those of IPv6 behind. */
export function addressesOf(world: World, { value }: Row<Instance>): Row<Address>[] {
  const v6 = value.ipv6 === null ? [] : [slaacOf(value.ipv6), linkLocal(value.id)];
  return [...value.ipv4, ...v6].flatMap((each) => world.table("address").get(each) ?? []);
}

/** What stays of an address when its instance is gone: nothing, of those that it was made with. */
export function dropAddresses(world: World, instance: Row<Instance>): void {
  for (const { id } of addressesOf(world, instance)) world.table("address").remove(id);
}

export function isPrivate(address: string): boolean {
  return address.startsWith("192.168.");
}

function slaacOf(ipv6: string): string {
  return ipv6.slice(0, ipv6.indexOf("/"));
}

function keepAddress(
  world: World,
  { home, value }: Row<Instance>,
  address: string,
  kind: Address["kind"],
): Row<Address> {
  return world.table("address").add(home, address, { address, kind, rdns: null, instance: value.id });
}
