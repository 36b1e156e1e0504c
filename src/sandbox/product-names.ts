/**
 * Product words that functions use. Declarations contain their own. Both are renamed to the configured
 * words once, at start-up. Keys are renamed too, so no key may be a product word.
 */

export const productNames = {
  /** Prefix of the default instance label, before the id. */
  label: "vm",
  /** Kernel of the default configuration profile (v4: `kernel`, default). */
  kernel: "vm/latest-64bit",
  /** Name of an instance in error reasons. */
  instance: "Vm",
  /** Members of bodies and responses that contain a product word. */
  vmId: "vm_id",
  vmLabel: "vm_label",
  instanceIds: "vms",
  clusterId: "orchcluster_id",
  /** Types of the events that follow an action. */
  migrateDatacenter: "vm_migrate_datacenter",
  migrateScheduled: "vm_migrate",
  resized: "vm_resize",
  mutated: "vm_mutate",
  /** Label prefix of an instance that is a cluster node. */
  orchLabel: "orch",
  /** All scope areas (V-177). Clients may request scopes of areas that have no endpoints here. */
  scopeAreas: [
    "account",
    "databases",
    "domains",
    "events",
    "firewall",
    "images",
    "ips",
    "vms",
    "orch",
    "monitor",
    "maintenance",
    "loadbalancers",
    "object_storage",
    "scripts",
    "volumes",
  ],
  /** The only area whose scopes are read-only. */
  readOnlyArea: "maintenance",
  /** Device path prefix, before the volume's label. */
  volumePath: "/dev/disk/by-id/scsi-0VM_Volume_",
};

/** Words that are renamed only in scope areas, not in paths and members. */
export const scopeAreaWords = ["script", "monitor", "loadbalancer"];

export type ProductNames = typeof productNames;
