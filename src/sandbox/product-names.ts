/**
 * The product words that functions need for themselves. Declarations carry theirs; both are renamed to the
 * service's own words once, at the start. Keys are renamed like everything else, so none may be a product word.
 */

export const productNames = {
  /** Of an instance created without a label: the word and the id. */
  label: "vm",
  /** Of the first configuration profile of an instance (v4: `kernel`, default). */
  kernel: "vm/latest-64bit",
  /** What a busy instance is called in a refusal. */
  instance: "Vm",
  /** Members of bodies and answers that carry a product word. */
  vmId: "vm_id",
  vmLabel: "vm_label",
  instanceIds: "vms",
  fromVm: "from_vm",
  clusterId: "orchcluster_id",
  /** Events that follow from an action without being its own. */
  migrateDatacenter: "vm_migrate_datacenter",
  migrateScheduled: "vm_migrate",
  resized: "vm_resize",
  mutated: "vm_mutate",
  nodeCreate: "orch_node_create",
  /** In front of the label of an instance that is a node of a cluster. */
  orchLabel: "orch",
  /** All scope areas (v4, Scope areas); of those without endpoints here, too, a client may ask for a scope. */
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
  /** The one area that nobody may write to (v4, Scope areas). */
  readOnlyArea: "maintenance",
  /** In front of a volume's label in its device path. */
  volumePath: "/dev/disk/by-id/scsi-0VM_Volume_",
};

/** Words of scope areas alone: a real service may have others for them, while paths and members keep theirs. */
export const scopeAreaWords = ["script", "monitor", "loadbalancer"];

export type ProductNames = typeof productNames;
