/** The requests of clients, by what they read. */
import type { ClientRequest } from "./services.ts";

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const get = (path: string, filter?: unknown): ClientRequest => ({
  path: `/v4${path}`,
  ...(filter !== undefined && { filter: JSON.stringify(filter) }),
});

const INSTANCES = range(5201, 5260);

/** Requests that clients repeat, in the order in which they send them. */
export const REQUESTS = {
  instances: [
    get("/vm/instances"),
    get("/vm/instances?page=2"),
    get("/vm/instances?page=3"),
    get("/vm/instances", { group: "web" }),
    get("/vm/instances", { label: { "+contains": "db" } }),
  ],
  instance: INSTANCES.map((id) => get(`/vm/instances/${id}`)),
  orderedInstances: [
    get("/vm/instances", { "+order_by": "label" }),
    get("/vm/instances?page=2", { "+order_by": "label" }),
    get("/vm/instances", { "+order_by": "label", "+order": "desc" }),
  ],
  orderedTokens: [get("/account/tokens", { "+order_by": "label" })],
  disks: INSTANCES.map((id) => get(`/vm/instances/${id}/disks`)),
  configs: INSTANCES.map((id) => get(`/vm/instances/${id}/configs`)),
  backups: INSTANCES.map((id) => get(`/vm/instances/${id}/backups`)),
  addresses: INSTANCES.map((id) => get(`/vm/instances/${id}/ips`)),
  ipv4: [get("/networking/ipv4"), get("/networking/ipv4?page=2")],
  types: [get("/vm/types")],
  datacenters: [get("/datacenters")],
  distributions: [get("/vm/distributions"), get("/vm/distributions?page=2")],
  kernels: [get("/vm/kernels")],
  zones: [get("/dns/zones")],
  records: [get("/dns/zones/7010/records"), get("/dns/zones/7011/records")],
  events: [get("/account/events"), get("/account/events?page=2"), get("/account/events?page=3")],
  tickets: [get("/support/tickets")],
  replies: [get("/support/tickets/220045/replies"), get("/support/tickets/220046/replies")],
  profile: [get("/account/profile")],
  settings: [get("/account/settings")],
  tokens: [get("/account/tokens")],
  users: [get("/account/users")],
  clients: [get("/account/clients")],
  balancers: [get("/nodebalancers")],
  scripts: [get("/vm/stackscripts")],
  missing: [get("/vm/instances/1"), get("/vm/instances/2"), get("/vm/instances/3")],
  wrongFilter: [get("/vm/instances", { hypervisor: "kvm" }), get("/vm/instances", { ram: 1 })],
} as const satisfies Readonly<Record<string, readonly ClientRequest[]>>;
