/** Reverse DNS: a name counts once it leads to the address (document 1, Networking addresses). */

import type { Fault } from "../http/problem.ts";
import type { CallOnRow, View } from "../resource/declaration.ts";
import { homeBelow } from "../resource/locate.ts";
import type { World } from "../store/world.ts";
import type { Address } from "./shapes.ts";

/** What a public IPv4 address is called until someone says otherwise; others have no name. */
export function defaultRdns({ address, kind }: Address): string | null {
  return kind === "public" ? `${address.replaceAll(".", "-")}.ip.usercontent.example.com` : null;
}

export function checkRdns({ world, body, row }: CallOnRow<Address> & View): Fault[] {
  const name = body["rdns"];
  const field = "rdns";
  if (typeof name !== "string") return [];
  const { address, kind } = row.value;
  if (kind === "private" || kind === "link-local")
    return [{ reason: "Only public addresses have reverse DNS", field }];
  if (name === defaultRdns(row.value) || leadsTo(world, name, address)) return [];
  return [{ reason: `${name} doesn't lead to ${address}: set up the record first`, field }];
}

/** Whether a record of a domain that is served here gives the address for the name. */
function leadsTo(world: World, name: string, address: string): boolean {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  for (const { id, value } of world.table("domain").all()) {
    const domain = String(value["domain"]).toLowerCase();
    if (value["status"] !== "active" || (wanted !== domain && !wanted.endsWith(`.${domain}`))) continue;
    const host = wanted.slice(0, Math.max(0, wanted.length - domain.length - 1));
    for (const { value: record } of world.table("record").of(homeBelow("domain", id))) {
      const { type, name: named, target } = record;
      if ((type === "A" || type === "AAAA") && String(named).toLowerCase() === host && target === address)
        return true;
    }
  }
  return false;
}
