/** Reverse DNS: a name counts once it leads to the address (document 1, Networking addresses). */

import type { FieldError } from "../http/problem.ts";
import type { RowCall, CallContext } from "../resource/declaration.ts";
import { childHome } from "../resource/locate.ts";
import type { Store } from "../store/store.ts";
import type { Address } from "./shapes.ts";

/** What a public IPv4 address is called until someone says otherwise; others have no name. */
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
  if (name === defaultRdns(row.value) || leadsTo(store, name, address)) return [];
  return [{ reason: `${name} doesn't lead to ${address}: set up the record first`, field }];
}

/** Whether a record of a domain that is served here gives the address for the name. */
function leadsTo(store: Store, name: string, address: string): boolean {
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
