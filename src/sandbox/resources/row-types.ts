/** Types of the stored objects whose members the code reads by name. All other members are only declared as fields. */

import type { ExchangeCode, TokenAccess } from "./hidden-state.ts";

export type Region = {
  id: string;
  country: string;
  capabilities: string[];
  status: string;
  resolvers: { ipv4: string; ipv6: string };
};

export type Image = {
  id: string;
  label: string;
  size: number;
  is_public: boolean;
  vendor: string | null;
  deprecated: boolean;
};

export type Kernel = {
  id: string;
  label: string;
};

export type Plan = {
  id: string;
  label: string;
  class: string;
  disk: number;
  memory: number;
  vcpus: number;
  transfer: number;
  gpus: number;
  /** Price in dollars. */
  price: { hourly: number; monthly: number };
  addons: { backups: { price: { hourly: number; monthly: number } } };
  /** Id of the plan that a free upgrade selects. */
  successor: string | null;
};

/** A question (UDF) of a script. A question without a `default` must be answered. */
export type ScriptQuestion = {
  label: string;
  name: string;
  example?: string;
  default?: string;
  oneof?: string;
  manyof?: string;
};

export type Script = {
  id: number;
  username: string;
  user_avatar_id: string;
  label: string;
  description: string;
  images: string[];
  deployments_total: number;
  deployments_active: number;
  is_public: boolean;
  created: string;
  updated: string;
  rev_note: string;
  script: string;
  user_defined_fields: ScriptQuestion[];
};

export type Entity = {
  id: number;
  label: string;
  type: string;
  url: string;
};

export type Event = {
  id: number;
  action: string;
  created: string;
  duration: number;
  entity: Entity;
  secondary_entity: (Omit<Entity, "id"> & { id: string }) | null;
  percent_complete: number | null;
  rate: string | null;
  read: boolean;
  seen: boolean;
  status: string;
  time_remaining: string | null;
  username: string;
  message: string;
};

/** A stored address. The resource computes the values that clients see. */
export type Address = {
  address: string;
  kind: "public" | "private" | "slaac" | "link-local";
  /** The reverse DNS name that the owner has set; null selects the default name. */
  rdns: string | null;
  instance: number;
};

export type Range = {
  range: string;
  prefix: number;
  region: string;
  route_target: string | null;
  /** A legacy address pool, which newer regions do not support. */
  pool: boolean;
  /** Ids of the instances that use the pool or range. */
  instances: number[];
};

/** A user. The user and the profile resource are views of the same row. */
export type User = {
  uid: number;
  username: string;
  email: string;
  restricted: boolean;
  ssh_keys: string[];
  tfa_enabled: boolean;
  timezone: string;
  email_notifications: boolean;
  referrals: object;
  ip_whitelist_enabled: boolean;
  lish_auth_method: string;
  authorized_keys: string[] | null;
  authentication_type: string;
};

export type Volume = {
  id: number;
  label: string;
  status: string;
  size: number;
  region: string;
  instance: number | null;
  tags: string[];
  created: string;
  updated: string;
};

export type Pool = {
  id: number;
  type: string;
  count: number;
  disks: { size: number; type: string }[];
  nodes: { id: string; instance_id: string | null; status: string }[];
  autoscaler: { enabled: boolean; min: number; max: number };
  tags: string[];
};

/** The members of an account that the code reads. */
export type Account = {
  company: string;
  balance: number;
  credit_card: { last_four: number; expiry: string };
  country: string;
  tax_id: string | null;
};

/** A row without a declared type. */
export type UntypedRow = Record<string, unknown>;

/** The row type of each table, by resource name. */
export interface RowTypes {
  region: Region;
  image: Image;
  kernel: Kernel;
  plan: Plan;
  instance: Instance;
  disk: Disk;
  config: Config;
  backup: Backup;
  script: Script;
  event: Event;
  account: Account;
  user: User;
  access: TokenAccess;
  /** Refresh tokens, with the scopes of the tokens that they renew. */
  refresh: TokenAccess;
  code: ExchangeCode;
  address: Address;
  range: Range;
  pool: Pool;
  node: UntypedRow;
  volume: Volume;
  profile: User;
  settings: UntypedRow;
  token: UntypedRow;
  client: UntypedRow;
  login: UntypedRow;
  profileLogin: UntypedRow;
  ipv6pool: Range;
  domain: UntypedRow;
  record: UntypedRow;
  nodebalancer: UntypedRow;
  nodebalancerConfig: UntypedRow;
  nodebalancerNode: UntypedRow;
  ticket: UntypedRow;
  reply: UntypedRow;
  notification: UntypedRow;
  invoice: UntypedRow;
  invoiceItem: UntypedRow;
  payment: UntypedRow;
  paymentMethod: UntypedRow;
  serviceTransfer: UntypedRow;
  credential: UntypedRow;
  service: UntypedRow;
  cluster: UntypedRow;
  orchVersion: UntypedRow;
  firewall: UntypedRow;
  firewallDevice: UntypedRow;
  engine: UntypedRow;
  databaseType: UntypedRow;
  database: UntypedRow;
  databaseBackup: UntypedRow;
  storageCluster: UntypedRow;
  bucket: UntypedRow;
  storageKey: UntypedRow;
}

// Stored instances, disks, profiles and backups.

export type Instance = {
  id: number;
  label: string;
  group: string;
  tags: string[];
  region: string;
  image: string | null;
  type: string | null;
  status: string;
  hypervisor: string;
  created: string;
  updated: string;
  ipv4: string[];
  ipv6: string | null;
  specs: { disk: number; memory: number; vcpus: number; transfer: number; gpus: number };
  alerts: { cpu: number; network_in: number; network_out: number; transfer_quota: number; io: number };
  backups: {
    enabled: boolean;
    schedule: { day: string | null; window: string | null };
    last_successful: string | null;
  };
  watchdog_enabled: boolean;
};

export type Disk = {
  id: number;
  label: string;
  status: string;
  size: number;
  filesystem: string;
  created: string;
  updated: string;
  /** An undocumented member that one client uses. It is only present if the request contained it. */
  read_only?: boolean;
};

/** `label` and `ipam_address` are empty for a public interface. */
export type Interface = {
  purpose: string;
  label: string;
  ipam_address: string;
};

export type Config = {
  id: number;
  label: string;
  kernel: string;
  comments: string | null;
  memory_limit: number;
  run_level: string;
  virt_mode: string;
  root_device: string;
  root_device_ro: boolean;
  interfaces: Interface[];
  helpers: Record<string, boolean>;
  devices: Record<string, { disk_id: number | null; volume_id: number | null } | null>;
  initrd: number | null;
  created: string;
  updated: string;
};

export type Backup = {
  id: number;
  type: string;
  status: string;
  label: string | null;
  region: string;
  created: string;
  updated: string;
  finished: string | null;
  configs: string[];
  disks: { size: number; filesystem: string; label: string }[];
};
