/** An instance and what hangs on it, as they are stored. */

export interface Instance {
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
}

export interface Disk {
  id: number;
  label: string;
  status: string;
  size: number;
  filesystem: string;
  created: string;
  updated: string;
  /** Not in the reference, known from one client only: shown where it was sent. */
  read_only?: boolean;
}

export interface Config {
  id: number;
  label: string;
  kernel: string;
  comments: string | null;
  memory_limit: number;
  run_level: string;
  virt_mode: string;
  root_device: string;
  root_device_ro: boolean;
  interfaces: object[];
  helpers: Record<string, boolean>;
  devices: Record<string, { disk_id: number | null; volume_id: number | null } | null>;
  initrd: number | null;
  created: string;
  updated: string;
}

export interface Backup {
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
}
