/** A domain as name servers read it (RFC 1035 5.1), one line for each record. */

import type { ActionCall } from "../resource/declaration.ts";
import { childHome } from "../resource/locate.ts";
import type { Value } from "./shapes.ts";

export function zoneFile({ store, row }: ActionCall<Value>): object {
  const { domain, id, soa_email: email, ttl_sec: ttl } = row.value;
  const records = [...store.table("record").inHome(childHome("domain", row.id))].map(({ value }) =>
    line(value),
  );
  return {
    zone_file: [
      `; ${String(domain)} [${String(id)}]`,
      `$TTL ${Number(ttl) || 86_400}`,
      `@\tIN\tSOA\tns1.example.com. ${String(email).replace("@", ".")}. 1 14400 14400 1209600 86400`,
      ...records,
    ],
  };
}

function line({
  name,
  ttl_sec: ttl,
  type,
  priority,
  weight,
  port,
  target,
  service,
  protocol,
}: Value): string {
  const host = type === "SRV" ? `${String(service)}.${String(protocol)}` : (name as string) || "@";
  const before = type === "MX" ? [priority] : type === "SRV" ? [priority, weight, port] : [];
  const value = type === "TXT" ? JSON.stringify(target) : target;
  return [host, ttl || "", "IN", type, ...before, value].join("\t");
}
